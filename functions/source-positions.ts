import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * A stack with its positions in the sources (functions keep their names of the bundle), where a source map lies beside the bundle that
 * it names; else the stack as it is. The map is read here,
 * once something failed: `--enable-source-maps` reads it at every cold start, a sixth of whose time it takes.
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
    return new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(file)}.map`, 'utf8')));
  } catch {
    // A stack without sources is better than none.
    return undefined;
  }
}
