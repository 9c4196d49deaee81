// The panel with the report of a profile. It shows the line that it is asked for, and tells which one is chosen in it.

import * as vscode from "vscode";

/** How long to wait between two looks at the file, in ms. */
const BETWEEN = 500;

export class Report implements vscode.Disposable {
  private panel?: vscode.WebviewPanel;
  /** The file that is shown, and when it was written. */
  private file?: vscode.Uri;
  private written = 0;
  private timer?: NodeJS.Timeout;
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
      this.file = file;
      this.written = 0;
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
    // A new profile takes the place of the whole folder, of which a watcher of files does not always hear.
    this.timer = setInterval(() => void this.load(), BETWEEN);
    panel.onDidDispose(() => {
      clearInterval(this.timer);
      this.panel = undefined;
      this.file = undefined;
    });
    return panel;
  }

  /** Shows what is in the file, if it is not shown already. */
  private async load(): Promise<void> {
    const { panel, file } = this;
    if (!panel || !file) return;
    try {
      const { mtime } = await vscode.workspace.fs.stat(file);
      if (mtime === this.written) return;
      const page = await vscode.workspace.fs.readFile(file);
      // Another one may be wanted by now.
      if (file !== this.file) return;
      this.written = mtime;
      panel.webview.html = new TextDecoder().decode(page);
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
