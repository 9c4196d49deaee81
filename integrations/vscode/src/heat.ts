// What the lines of a document cost, as a heat map in the ruler beside its scroll bar.

import * as vscode from "vscode";

/** What the server tells of a line that costs much. */
interface Cost {
  /** The cycles that it costs. */
  cost: number;
  /** Those of the run. */
  cycles: number;
}

/** From which share of the run on a line has which colour, the hottest first. */
const LEVELS: [number, string][] = [
  [0.2, "#d62828"],
  [0.05, "#f77f00"],
  [0, "#fcbf49"],
];

export class HeatMap implements vscode.Disposable {
  private readonly styles = LEVELS.map(([, overviewRulerColor]) =>
    vscode.window.createTextEditorDecorationType({ overviewRulerColor, overviewRulerLane: vscode.OverviewRulerLane.Right }),
  );
  /** The ranges of each level, by the document. */
  private readonly known = new Map<string, vscode.Range[][]>();
  private readonly follower = vscode.window.onDidChangeVisibleTextEditors((editors) => this.show(editors));

  /** Takes what the server tells of a document. */
  set(uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]): void {
    const levels: vscode.Range[][] = LEVELS.map(() => []);
    for (const diagnostic of diagnostics) {
      const { data } = diagnostic as { data?: Cost };
      if (data) levels[LEVELS.findIndex(([least]) => data.cost >= least * data.cycles)].push(diagnostic.range);
    }
    this.known.set(uri.toString(), levels);
    this.show(vscode.window.visibleTextEditors);
  }

  private show(editors: readonly vscode.TextEditor[]): void {
    for (const editor of editors) {
      const levels = this.known.get(editor.document.uri.toString());
      levels?.forEach((ranges, level) => editor.setDecorations(this.styles[level], ranges));
    }
  }

  dispose(): void {
    for (const each of [this.follower, ...this.styles]) each.dispose();
  }
}
