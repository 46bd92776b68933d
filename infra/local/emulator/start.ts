/**
 * `npm run emulator`: makes the emulator's Python environment below .local/ where it is not there
 * yet, and runs it.
 */

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { SetupProblem } from '../../commands/setup-problem.ts';

const here = import.meta.dirname;
const requirements = join(here, 'requirements.txt');
const environment = resolve('.local', 'emulator');
const oldestMinor = 10;

try {
  process.exitCode = await run(await preparePython(), [join(here, 'emulator.py'), ...process.argv.slice(2)]);
} catch (error) {
  console.error(error instanceof SetupProblem ? error.message : error);
  process.exitCode = 1;
}

/**
 * The environment's Python. An environment of other requirements, or one that was not finished, is
 * made anew.
 */
async function preparePython(): Promise<string> {
  const python = join(environment, 'bin', 'python');
  const stamp = join(environment, 'requirements.sha256');
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const found = await readFile(stamp, 'utf8').catch(() => undefined);
  if (found === wanted && spawnSync(python, ['--version']).status === 0) return python;
  const system = findPython();
  const started = Date.now();
  console.log('Makes the Python environment of the emulator in .local/emulator: about 0.5 GB, once …');
  await rm(environment, { recursive: true, force: true });
  await install(system, ['-m', 'venv', environment]);
  const checked = ['--require-hashes', '--only-binary', ':all:', '--requirement', requirements];
  await install(python, ['-m', 'pip', '--disable-pip-version-check', '--no-input', '--quiet', 'install', ...checked]);
  await writeFile(stamp, wanted);
  console.log(`Done after ${((Date.now() - started) / 1000).toFixed(0)} s.`);
  return python;
}

function findPython(): string {
  const program = `import sys; sys.exit(sys.version_info < (3, ${oldestMinor}))`;
  const found = ['python3', 'python'].find((name) => spawnSync(name, ['-c', program]).status === 0);
  if (found === undefined) throw new SetupProblem(`The emulator needs Python 3.${oldestMinor} or later, as python3.`);
  return found;
}

async function install(command: string, args: readonly string[]): Promise<void> {
  const code = await run(command, args);
  if (code !== 0) {
    await rm(environment, { recursive: true, force: true });
    throw new SetupProblem(
      'The Python environment could not be made: see above. Debian and Ubuntu need the package python3-venv.',
    );
  }
}

/** Runs a program as if it were this one: with its terminal, its signals and its exit code. */
function run(command: string, args: readonly string[]): Promise<number> {
  const child = spawn(command, args, { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  // If npm is killed, nothing else would end the program.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill(), 1_000).unref();
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('exit', (code) => done(code ?? 1));
  });
}
