// In the panel of an editor, the report shows the line that the editor asks for, and tells it which line is chosen.

function followEditor() {
  const editor = globalThis.acquireVsCodeApi?.();
  if (!editor) return;
  // The editor is there already, or has just been told.
  let known = null;
  onSelection(() => {
    const [key = null] = selection.lines;
    if (key && key !== known) editor.postMessage({ chosen: linePart(key.split(":").map(Number)) });
    known = key;
  });
  addEventListener("message", ({ data: { choose: part } }) => {
    [known] = parsePart(part).lines ?? [null];
    choose(part);
  });
  // From now on somebody hears what it asks for.
  editor.postMessage({});
}
