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
const python = join(environment, 'bin', 'python');
const oldestMinor = 10;

try {
  const args = process.argv.slice(2);
  await preparePython();
  if (args.some((arg) => /^--with(=|$)/.test(arg))) await addSimulators();
  process.exitCode = await run(python, [join(here, 'emulator.py'), ...args]);
} catch (error) {
  console.error(error instanceof SetupProblem ? error.message : error);
  process.exitCode = 1;
}

/** Makes the environment anew if it has other requirements, or was not finished. */
async function preparePython(): Promise<void> {
  const stamp = join(environment, 'requirements.sha256');
  const wanted = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const found = await readFile(stamp, 'utf8').catch(() => undefined);
  if (found === wanted && spawnSync(python, ['--version']).status === 0) return;
  const system = findPython();
  const started = Date.now();
  console.log('Makes the Python environment of the emulator in .local/emulator: about 0.5 GB, once …');
  await rm(environment, { recursive: true, force: true });
  if (!((await succeeds(system, ['-m', 'venv', environment])) && (await install(requirements)))) {
    await rm(environment, { recursive: true, force: true });
    throw new SetupProblem(
      'The Python environment could not be made: see above. Debian and Ubuntu need the package python3-venv.',
    );
  }
  await writeFile(stamp, wanted);
  console.log(`Done after ${((Date.now() - started) / 1000).toFixed(0)} s.`);
}

/** Adds emu-mps and emu-sv to the environment, if it does not have them in the wanted versions. */
async function addSimulators(): Promise<void> {
  const program = `import sys; from importlib.metadata import version
sys.exit(any(version(name) != wanted for name, wanted in (line.split() for line in sys.argv[1].splitlines())))`;
  const wanted = (await readFile(join(here, 'requirements-with.in'), 'utf8')).trim().replaceAll('==', ' ');
  if (spawnSync(python, ['-c', program, wanted]).status === 0) return;
  const started = Date.now();
  console.log('Installs emu-mps, emu-sv and PyTorch in .local/emulator: about 5 GB on Linux, 0.6 GB on macOS, once …');
  if (!(await install(join(here, 'requirements-with.txt')))) {
    throw new SetupProblem(
      'emu-mps and emu-sv could not be installed: see above. They need Python 3.11 to 3.14, and a PyTorch for it and for ' +
        'this machine. Without --with, QuTiP simulates EMU_MPS and EMU_SV, too: up to 12 atoms.',
    );
  }
  console.log(`Done after ${((Date.now() - started) / 1000).toFixed(0)} s.`);
}

function findPython(): string {
  const program = `import sys; sys.exit(sys.version_info < (3, ${oldestMinor}))`;
  const found = ['python3', 'python'].find((name) => spawnSync(name, ['-c', program]).status === 0);
  if (found === undefined) throw new SetupProblem(`The emulator needs Python 3.${oldestMinor} or later, as python3.`);
  return found;
}

function install(file: string): Promise<boolean> {
  const checked = ['--require-hashes', '--only-binary', ':all:', '--requirement', file];
  return succeeds(python, ['-m', 'pip', '--disable-pip-version-check', '--no-input', '--quiet', 'install', ...checked]);
}

async function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return (await run(command, args)) === 0;
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
