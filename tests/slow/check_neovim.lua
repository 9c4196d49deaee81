-- What Neovim with integrations/nvim/petal.lua shows and does.

local function say(...)
  io.stdout:write(table.concat({ ... }, " "), "\n")
end

local function wait_for(what, is)
  assert(vim.wait(60000, is, 20), "waited too long for " .. what)
end

--- The hints of the document, by line.
local function hints()
  local all = {}
  for _, hint in ipairs(vim.lsp.inlay_hint.get({ bufnr = 0 })) do
    all[hint.inlay_hint.position.line + 1] = hint.inlay_hint.label
  end
  return all
end

--- What is asked of the server, with its answer.
local function ask(method, params)
  local answers = assert(vim.lsp.buf_request_sync(0, method, params, 60000))
  local _, answer = next(answers)
  assert(not answer.err, vim.inspect(answer.err))
  return answer.result
end

local function check()
  local client
  wait_for("the server", function()
    client = vim.lsp.get_clients({ name = "petal", bufnr = 0 })[1]
    return client and client.initialized
  end)
  local messages = {}
  vim.lsp.handlers["window/showMessage"] = function(_, message)
    table.insert(messages, message.message)
  end
  local inner
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    if line:find("while k_lt.out", 1, true) then
      inner = number
    end
  end

  vim.cmd("PetalAdvise")
  wait_for("hints", function()
    return hints()[inner] == "464 cycles · 75.8 % · +128 overhead"
  end)
  wait_for("the message", function()
    return messages[1]
  end)
  say(messages[1])
  assert(messages[1]:find("612 cycles become 185"), messages[1])

  vim.api.nvim_buf_set_lines(0, 0, 0, false, { "// new" })
  wait_for("hints that move", function()
    return hints()[inner + 1] == "464 cycles · 75.8 % · +128 overhead"
  end)
  say("hints moved")
  -- What follows is undone by itself.
  vim.cmd("let &undolevels = &undolevels")
  vim.api.nvim_buf_set_lines(0, inner, inner + 1, false, { "something else" })
  wait_for("a hint to go", function()
    return not hints()[inner + 1]
  end)
  vim.cmd("undo")
  wait_for("the hint to come back", function()
    return hints()[inner + 1]
  end)

  local place = { textDocument = vim.lsp.util.make_text_document_params(0), position = { line = inner, character = 16 } }
  local hover = ask("textDocument/hover", place)
  assert(hover.contents.value:find("64 iterations", 1, true), hover.contents.value)
  local hot = vim.diagnostic.get(0)
  assert(#hot > 0 and hot[1].severity == vim.diagnostic.severity.HINT, vim.inspect(hot))
  vim.cmd("PetalHotspots")
  local listed = vim.fn.getqflist()
  assert(#listed == #hot and listed[1].lnum == inner + 1, vim.inspect(listed))
  assert(listed[1].text:find("costs 208 cycles", 1, true), listed[1].text)
  vim.cmd("cclose")
  vim.api.nvim_win_set_cursor(0, { inner, 0 })
  vim.api.nvim_feedkeys("]h", "xm", false)
  wait_for("the next hotspot", function()
    return vim.api.nvim_win_get_cursor(0)[1] == inner + 1
  end)

  vim.lsp.buf.code_action({
    apply = true,
    filter = function(action)
      return action.title:find("`more_terms` continuous", 1, true) ~= nil
    end,
  })
  wait_for("the edit", function()
    local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
    return not text:find("with more_terms", 1, true)
  end)
  say("advice applied")
  vim.cmd("write")
  vim.cmd("PetalRun")
  wait_for("the run", function()
    return #messages > 1
  end)
  say(messages[2])
end

local works, problem = pcall(check)
if not works then
  io.stderr:write(tostring(problem), "\n", vim.fn.execute("messages"), "\n")
end
vim.cmd(works and "qall!" or "cquit 1")
