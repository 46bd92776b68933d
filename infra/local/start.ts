/**
 * `npm start`. It imports next to nothing itself: Linux soon replaces this process by another one,
 * of the same id, that holds less memory.
 */

import { enableCompileCache } from 'node:module';
import { compileCache } from './cache/compile-cache.ts';

/**
 * What only the start of a process can set:
 * - two areas for glibc to give memory from. By default each thread has one, and functions are
 *   threads: some 100 MB stay unused in them;
 * - young objects of the main thread fill 12 MB instead of 48 before they are collected. Functions
 *   have bounds of their own;
 * - two threads instead of four in which V8 compiles and collects: each holds memory, too.
 */
const arenas = { MALLOC_ARENA_MAX: '2' };
const flags = ['--max-semi-space-size=4', '--v8-pool-size=2'];

if (process.platform === 'linux' && process.env.MALLOC_ARENA_MAX === undefined) replaceProcess();
// Types are removed and syntax is compiled once, not at each start.
enableCompileCache(compileCache);
await import('./serve.ts');

/**
 * Does not return, unless this Node cannot do it: then everything works, with more memory. Node
 * calls it experimental, but has no time left to print that.
 */
function replaceProcess() {
  const args = [process.execPath, ...flags, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...process.env, ...arenas });
}
