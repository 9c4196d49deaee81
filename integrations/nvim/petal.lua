-- petal in Neovim 0.11 or newer: costs beside the text, advice, a list of hotspots, and the debugger if nvim-dap is there.
-- In the folder `plugin` of a configuration it is read at the start. Settings are those of the server:
--   vim.lsp.config("petal", { init_options = { leastPercent = 5 } })

vim.filetype.add({ extension = { futil = "calyx", fuse = "fuse" } })
vim.lsp.config("petal", {
  cmd = { "petal", "lsp" },
  filetypes = { "calyx", "fuse", "python" },
  root_markers = { "petal-out", ".git" },
})

--- The quickfix list with what costs in the documents that are open, the costliest first.
local function list_hotspots(client)
  local hotspots = vim.diagnostic.get(nil, {
    namespace = vim.lsp.diagnostic.get_namespace(client.id),
    severity = vim.diagnostic.severity.HINT,
  })
  local function cost(hotspot)
    return hotspot.user_data.lsp.data.cost
  end
  table.sort(hotspots, function(one, other)
    return cost(one) > cost(other)
  end)
  local items = vim.tbl_map(function(hotspot)
    return { bufnr = hotspot.bufnr, lnum = hotspot.lnum + 1, col = hotspot.col + 1, text = hotspot.message:gsub("\n", " ") }
  end, hotspots)
  vim.fn.setqflist({}, " ", { title = "petal: hotspots", items = items })
  vim.cmd.copen()
end

local commands = {
  PetalRun = "petal.run",
  PetalAdvise = "petal.advise",
  PetalCheck = "petal.check",
  PetalCompare = "petal.compare",
  PetalReport = "petal.openReport",
  PetalTimeline = "petal.openTimeline",
  PetalNextHotspot = "petal.nextHotspot",
  PetalPreviousHotspot = "petal.previousHotspot",
}

vim.api.nvim_create_autocmd("LspAttach", {
  group = vim.api.nvim_create_augroup("petal", {}),
  callback = function(event)
    local client = assert(vim.lsp.get_client_by_id(event.data.client_id))
    if client.name ~= "petal" then
      return
    end
    local buffer = event.buf
    vim.lsp.inlay_hint.enable(true, { bufnr = buffer })
    for name, command in pairs(commands) do
      vim.api.nvim_buf_create_user_command(buffer, name, function()
        local line = vim.api.nvim_win_get_cursor(0)[1] - 1
        client:exec_cmd({ title = name, command = command, arguments = { vim.uri_from_bufnr(buffer), line } }, { bufnr = buffer })
      end, {})
    end
    vim.api.nvim_buf_create_user_command(buffer, "PetalHotspots", function()
      list_hotspots(client)
    end, {})
    vim.keymap.set("n", "]h", "<Cmd>PetalNextHotspot<CR>", { buffer = buffer, desc = "petal: next hotspot" })
    vim.keymap.set("n", "[h", "<Cmd>PetalPreviousHotspot<CR>", { buffer = buffer, desc = "petal: previous hotspot" })
  end,
})

vim.lsp.enable("petal")

local has_dap, dap = pcall(require, "dap")
if has_dap then
  dap.adapters.petal = { type = "executable", command = "petal", args = { "debug", "--dap" } }
  dap.configurations.calyx = {
    {
      type = "petal",
      request = "launch",
      name = "petal: the profile of this design",
      program = "${workspaceFolder}/petal-out/${fileBasenameNoExtension}",
      design = "${file}",
    },
  }
end
