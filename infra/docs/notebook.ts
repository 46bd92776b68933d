/**
 * A page as a Jupyter notebook: its Python blocks are cells, and a block of text right after one is
 * what the cell printed. Everything else stays Markdown.
 */
export function notebookOf(page: string): string {
  const block = /^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?/gms;
  const cells: object[] = [];
  let from = 0;
  for (const { 0: whole, 1: code, 2: printed, index } of page.matchAll(block)) {
    addWords(cells, page.slice(from, index));
    cells.push({
      cell_type: 'code',
      execution_count: null,
      id: `cell-${cells.length + 1}`,
      metadata: {},
      outputs: printed === undefined ? [] : [{ name: 'stdout', output_type: 'stream', text: linesOf(printed) }],
      source: linesOf(code!.trimEnd()),
    });
    from = index + whole.length;
  }
  addWords(cells, page.slice(from));
  const kernelspec = { display_name: 'Python 3', language: 'python', name: 'python3' };
  const notebook = { cells, metadata: { kernelspec }, nbformat: 4, nbformat_minor: 5 };
  return `${JSON.stringify(notebook, null, 1)}\n`;
}

function addWords(cells: object[], words: string): void {
  if (words.trim() === '') return;
  cells.push({ cell_type: 'markdown', id: `cell-${cells.length + 1}`, metadata: {}, source: linesOf(words.trim()) });
}

/** As notebooks keep a text: a list of lines, each with its end. */
const linesOf = (text: string): string[] => text.match(/.*\n|.+$/g) ?? [];
