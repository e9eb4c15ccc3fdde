import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { contextOf } from './context.ts';
import { execForm, restsOf, type Stage, stagesOf } from './dockerfile.ts';

/** What the image would hold and how it would be run, in folders of this machine. */
export interface Image {
  /** Where `/app` of the image lies. */
  readonly app: string;
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
}

/** Does what the Dockerfile says, without Docker: the same files, the same packages. */
export function layOut(root: string, into: string): Image {
  const [packages, final] = stagesOf(readFileSync(join(root, 'Dockerfile'), 'utf8'));
  if (!packages || !final) throw new Error('The Dockerfile has not the two stages it should have');
  const [context, built, app] = ['context', 'packages', 'app'].map((name) => join(into, name));
  if (!context || !built || !app) throw new Error('There is nowhere to build');

  for (const file of contextOf(root)) place(join(root, file), join(context, file));
  copyInto(built, packages, context, built);
  installIn(built, packages);
  copyInto(app, final, context, built);
  copyFileSync(process.execPath, join(into, 'node'));
  const [command = '', healthcheck = ''] = ['CMD', 'HEALTHCHECK'].map((name) =>
    restsOf(final, name).at(-1),
  );
  const runtime = (words: readonly string[]) =>
    words.map((word) => word.replace(/^node$/, join(into, 'node')).replace(/^\/app/, app));
  return {
    app,
    env: envOf(final),
    command: runtime(execForm(command)),
    healthcheck: runtime(execForm(healthcheck)),
  };
}

/** COPY as ours uses it: files of the context, or a folder of the first stage, into /app. */
function copyInto(folder: string, stage: Stage, context: string, built: string): void {
  for (const rest of restsOf(stage, 'COPY')) {
    const words = rest.split(/\s+/);
    const from = words[0]?.startsWith('--from=') ? built : context;
    const [to = '', ...sources] = words.filter((word) => !word.startsWith('--')).toReversed();
    for (const source of sources) {
      const path = join(from, source.replace(/^\/app\//, ''));
      place(path, to.endsWith('/') ? join(folder, to, source) : join(folder, to));
    }
  }
}

function place(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

// Nothing else of a RUN is run: what is harmless in an image could empty this machine.
function installIn(folder: string, stage: Stage): void {
  const steps = restsOf(stage, 'RUN').flatMap((rest) =>
    rest.split('&&').map((step) => step.trim()),
  );
  for (const step of steps) {
    const [program, ...words] = step.split(/\s+/);
    if (program === 'npm') {
      execFileSync('npm', [...words, '--loglevel=error'], { cwd: folder, stdio: 'inherit' });
    } else if (program === 'rm') {
      for (const path of words.slice(1)) remove(folder, path);
    } else {
      throw new Error(`The rehearsal does not know how to do: ${step}`);
    }
  }
}

function remove(folder: string, path: string): void {
  const target = resolve(folder, path);
  if (!target.startsWith(folder + sep)) throw new Error(`${path} is outside of what is built`);
  rmSync(target, { recursive: true });
}

function envOf(stage: Stage): Readonly<Record<string, string>> {
  const pairs = restsOf(stage, 'ENV').flatMap((rest) => rest.split(/\s+/));
  return Object.fromEntries(
    pairs.map((pair) => [pair.split('=')[0] ?? '', pair.slice(pair.indexOf('=') + 1)]),
  );
}

/** Nobody may write here any more, and everybody may read. */
export function lock(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o555 : 0o444);
  }
  chmodSync(folder, 0o555);
}
