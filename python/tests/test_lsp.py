"""The server for editors with a client that holds each answer against the types of the protocol."""

import asyncio
import shutil
import sys

import pytest
from conftest import EXAMPLES

pytest.importorskip("pytest_lsp")

from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities

PATIENCE = 120


@pytest.fixture
def folder(tmp_path):
    for name in ["matmul.futil", "matmul.futil.data"]:
        shutil.copy(EXAMPLES / name, tmp_path)
    return tmp_path


def play(folder, editor, act):
    """Does `act` with a client that can do what an editor can, in the folder."""

    async def main():
        config = ClientServerConfig(server_command=[sys.executable, "-m", "petal", "lsp"])
        client = await config.start()

        @client.feature(types.WORKSPACE_INLAY_HINT_REFRESH)
        @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        def refresh(params):
            """The tests ask again by themselves."""

        @client.feature(types.CLIENT_REGISTER_CAPABILITY)
        def register(params: types.RegistrationParams):
            assert params.registrations[0].method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES

        params = types.InitializeParams(
            capabilities=client_capabilities(editor),
            root_uri=folder.as_uri(),
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name="here")],
        )
        client.server = await client.initialize_session(params)
        try:
            await asyncio.wait_for(act(client), PATIENCE)
        finally:
            # Without a word it would not end.
            await client.shutdown_session()
            await client.stop()

    asyncio.run(main())


def open_document(client: LanguageClient, path) -> types.TextDocumentIdentifier:
    text = path.read_text()
    item = types.TextDocumentItem(uri=path.as_uri(), language_id="calyx", version=1, text=text)
    client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    return types.TextDocumentIdentifier(path.as_uri())


@pytest.mark.parametrize("editor", ["visual-studio-code", "neovim", "emacs"])
def test_an_editor_profiles_a_design_and_shows_what_it_cost(folder, editor):
    path = folder / "matmul.futil"
    line = next(at for at, text in enumerate(path.read_text().splitlines()) if "while k_lt.out" in text)
    place = types.Position(line, 15)
    whole = types.Range(types.Position(0, 0), types.Position(1000, 0))

    async def act(client):
        document = open_document(client, path)
        run = types.ExecuteCommandParams("petal.run", [path.as_uri()])
        assert (await client.workspace_execute_command_async(run))["cycles"] == 612
        hints = []
        while not hints:
            await asyncio.sleep(0.05)
            hints = await client.text_document_inlay_hint_async(types.InlayHintParams(document, whole))
        labels = {hint.position.line: hint.label for hint in hints}
        assert labels[line] == "464 cycles · 75.8 % · +128 overhead"
        hover = await client.text_document_hover_async(types.HoverParams(document, place))
        assert "64 iterations" in hover.contents.value
        lenses = await client.text_document_code_lens_async(types.CodeLensParams(document))
        assert lenses[0].command.command == "petal.openReport"
        diagnostics = client.diagnostics[path.as_uri()]
        assert all(of.severity == types.DiagnosticSeverity.Hint for of in diagnostics)
        prepare = types.CallHierarchyPrepareParams(document, place)
        items = await client.text_document_prepare_call_hierarchy_async(prepare)
        assert items[0].name.startswith("main.while@")
        calls = await client.call_hierarchy_incoming_calls_async(types.CallHierarchyIncomingCallsParams(items[0]))
        assert calls[0].from_.name.startswith("main.seq@")
        assert await client.call_hierarchy_outgoing_calls_async(types.CallHierarchyOutgoingCallsParams(items[0]))
        context = types.CodeActionContext([], only=["source.petal"])
        params = types.CodeActionParams(document, types.Range(place, place), context)
        actions = await client.text_document_code_action_async(params)
        assert "petal: profile this design" in [action.title for action in actions]

    play(folder, editor, act)


def test_advice_is_an_edit_of_the_version_that_the_editor_has(folder):
    path = folder / "matmul.futil"

    async def act(client):
        document = open_document(client, path)
        advise = types.ExecuteCommandParams("petal.advise", [path.as_uri()])
        advice = await client.workspace_execute_command_async(advise)
        assert advice["with_proved"] == 185
        whole = types.Range(types.Position(0, 0), types.Position(1000, 0))
        params = types.CodeActionParams(document, whole, types.CodeActionContext([]))
        actions = []
        while not actions:
            await asyncio.sleep(0.05)
            actions = await client.text_document_code_action_async(params)
        preferred = [action for action in actions if action.is_preferred]
        assert preferred and all("proved" in action.title for action in preferred)
        for action in actions:
            (change,) = action.edit.document_changes
            assert change.text_document == types.OptionalVersionedTextDocumentIdentifier(path.as_uri(), 1)

    play(folder, "visual-studio-code", act)
