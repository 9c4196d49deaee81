// The debugger: how `petal debug --dap` is started, and which profile it opens if nobody names one.

import * as vscode from "vscode";

export const launch: vscode.DebugConfigurationProvider = {
  resolveDebugConfiguration: (_folder, config) =>
    config.type
      ? config
      : {
          type: "petal",
          request: "launch",
          name: "The profile of this design",
          program: "${workspaceFolder}/petal-out/${fileBasenameNoExtension}",
          design: "${file}",
        },
};

export const adapter = (petal: () => string): vscode.DebugAdapterDescriptorFactory => ({
  // Folders of the configuration are those of the workspace.
  createDebugAdapterDescriptor: ({ workspaceFolder }) =>
    new vscode.DebugAdapterExecutable(petal(), ["debug", "--dap"], { cwd: workspaceFolder?.uri.fsPath }),
});
