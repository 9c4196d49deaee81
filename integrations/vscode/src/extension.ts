// petal in VS Code: its server for what stands beside the text, a panel for the report, and its debugger. What is shown and done, petal knows;
// this only connects them.

import * as vscode from "vscode";
import { ExecuteCommandRequest, LanguageClient, type LanguageClientOptions, LSPErrorCodes, type Range, ResponseError } from "vscode-languageclient/node";

import { launch, adapter } from "./debugger";
import { HeatMap } from "./heat";
import { Report } from "./report";

let client: LanguageClient | undefined;
/** The editor that was the last to have the focus: the panel with the report may have it now. */
let editor = vscode.window.activeTextEditor;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const heat = new HeatMap();
  const report = new Report((uri) => follow("petal.openSource", uri));
  client = new LanguageClient("petal", "petal", { command: petal(), args: ["lsp"] }, options(report, heat));
  context.subscriptions.push(
    heat,
    report,
    vscode.debug.registerDebugConfigurationProvider("petal", launch),
    vscode.debug.registerDebugAdapterDescriptorFactory("petal", adapter(petal)),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("petal")) void client?.sendNotification("workspace/didChangeConfiguration", { settings: settings() });
    }),
    vscode.window.onDidChangeActiveTextEditor((active) => {
      editor = active ?? editor;
    }),
    // Whoever clicks on a line sees it in the report, if that is in sight.
    vscode.window.onDidChangeTextEditorSelection(({ kind, textEditor: { document, selection } }) => {
      const isClick = kind === vscode.TextEditorSelectionChangeKind.Mouse;
      if (isClick && report.isVisible) follow("petal.openReport", document.uri.toString(), selection.active.line);
    }),
  );
  try {
    await client.start();
  } catch (error) {
    void vscode.window.showErrorMessage(`petal does not start (${error}): install it, or tell where it is by the setting petal.command`);
  }
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

/** The program. */
const petal = () => vscode.workspace.getConfiguration("petal").get("command", "petal");

/** The settings of the server. */
function settings(): object {
  const { command: _, ...rest } = JSON.parse(JSON.stringify(vscode.workspace.getConfiguration("petal")));
  return rest;
}

/** Has the server do a command; `failed` hears why it does not. */
async function execute(command: string, args: unknown[], failed: (why: string) => void): Promise<unknown> {
  try {
    return await client?.sendRequest(ExecuteCommandRequest.type, { command, arguments: args });
  } catch (error) {
    const isCancelled = error instanceof ResponseError && error.code === LSPErrorCodes.RequestCancelled;
    if (!isCancelled) failed(error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** The same for what nobody called by its name: where it can't be done, nothing happens. */
const follow = (command: string, ...args: unknown[]) => void execute(command, args, (why) => client?.outputChannel.appendLine(`${command}: ${why}`));

function options(report: Report, heat: HeatMap): LanguageClientOptions {
  return {
    documentSelector: [{ scheme: "file", pattern: "**/*.{futil,fuse,py}" }],
    initializationOptions: settings(),
    middleware: {
      // Who calls a command by its name means the line that the cursor is on.
      executeCommand: (command, args) => {
        const here = editor ? [editor.document.uri.toString(), editor.selection.active.line] : [];
        return execute(command, args[0] ? args : here, (why) => void vscode.window.showErrorMessage(why));
      },
      handleDiagnostics: (uri, diagnostics, next) => {
        heat.set(uri, diagnostics);
        next(uri, diagnostics);
      },
      window: {
        showDocument: async (params, token, next) => {
          if (/\/report\.html(#|$)/.test(params.uri)) {
            await report.show(params.uri);
          } else if (params.external || !params.selection) {
            return next(params, token);
          } else {
            await showSource(params.uri, params.selection, params.takeFocus ?? false);
          }
          return { success: true };
        },
      },
    },
  };
}

/** Shows a place where its file is in sight, so that nothing covers the report. */
async function showSource(name: string, { start, end }: Range, takesFocus: boolean): Promise<void> {
  const uri = vscode.Uri.parse(name);
  const shown = vscode.window.visibleTextEditors.find(({ document }) => document.uri.toString() === uri.toString());
  await vscode.window.showTextDocument(uri, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    preserveFocus: !takesFocus,
    selection: new vscode.Range(start.line, start.character, end.line, end.character),
  });
}
