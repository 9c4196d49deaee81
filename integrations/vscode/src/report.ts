// The panel with the report of a profile. It shows the line that it is asked for, and tells which one is chosen in it.

import * as vscode from "vscode";

export class Report implements vscode.Disposable {
  private panel?: vscode.WebviewPanel;
  /** The file that is shown, and whoever sees it change. */
  private file?: vscode.Uri;
  private watcher?: vscode.Disposable;
  /** The part of its address that is shown: `L12`, or of another file `F1L12`. */
  private part = "";

  /** `chosen` hears which address of a report is chosen in the panel. */
  constructor(private readonly chosen: (uri: string) => void) {}

  get isVisible(): boolean {
    return this.panel?.visible ?? false;
  }

  /** Shows a report at the line that its address tells. */
  async show(address: string): Promise<void> {
    const uri = vscode.Uri.parse(address);
    const file = uri.with({ fragment: "" });
    this.part = uri.fragment;
    if (this.panel && this.file?.toString() === file.toString()) {
      this.send();
    } else {
      this.panel ??= this.open();
      this.watch(file);
      await this.load();
    }
    this.panel.reveal(undefined, true);
  }

  private open(): vscode.WebviewPanel {
    const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    const panel = vscode.window.createWebviewPanel("petal.report", "petal", place, { enableScripts: true, retainContextWhenHidden: true });
    panel.webview.onDidReceiveMessage(({ chosen }: { chosen?: string }) => {
      // The first message only says that there is somebody to talk to.
      if (chosen === undefined) this.send();
      else this.chosen(`${this.file}#${chosen}`);
    });
    panel.onDidDispose(() => {
      this.watcher?.dispose();
      this.panel = undefined;
      this.file = undefined;
    });
    return panel;
  }

  private watch(file: vscode.Uri): void {
    this.watcher?.dispose();
    this.file = file;
    // A new profile takes the place of the whole folder: nobody hears of the file then.
    const around = vscode.Uri.joinPath(file, "../..");
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(around, "{*,*/report.html}"));
    watcher.onDidCreate(() => this.load());
    watcher.onDidChange(() => this.load());
    this.watcher = watcher;
  }

  private async load(): Promise<void> {
    if (!this.panel || !this.file) return;
    try {
      const page = await vscode.workspace.fs.readFile(this.file);
      this.panel.webview.html = new TextDecoder().decode(page);
    } catch {
      // There is none while the next one is written: what was there stays.
    }
  }

  private send(): void {
    void this.panel?.webview.postMessage({ choose: this.part });
  }

  dispose(): void {
    this.panel?.dispose();
  }
}
