import { readFileSync } from 'node:fs';
import type { SourceMap } from 'node:module';

/**
 * The stack with positions in the sources; functions keep the names that they have in the bundle. A
 * bundle without a source map beside it keeps its own positions. The map is read only when
 * something has failed: `--enable-source-maps` would read it at every cold start, and take a sixth
 * of its time.
 */
export function withSourcePositions(stack: string): string {
  return stack.replaceAll(/(file:\/\/[^\s()]+\.mjs):(\d+):(\d+)/g, (position, file: string, line, column) => {
    const origin = sourceMap(file)?.findOrigin(Number(line), Number(column));
    return origin && 'fileName' in origin ? `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}` : position;
  });
}

const sourceMaps = new Map<string, SourceMap | undefined>();

function sourceMap(file: string): SourceMap | undefined {
  if (!sourceMaps.has(file)) sourceMaps.set(file, readSourceMap(file));
  return sourceMaps.get(file);
}

function readSourceMap(file: string): SourceMap | undefined {
  try {
    const module = process.getBuiltinModule('node:module');
    return new module.SourceMap(JSON.parse(readFileSync(new URL(`${file}.map`), 'utf8')));
  } catch {
    // A stack without sources is better than none.
    return undefined;
  }
}
