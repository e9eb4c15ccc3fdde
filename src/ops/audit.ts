// What an operator does with the log: verify it, give parts of it to others, delete old texts, and end a damaged one.
import { closeSync, fsyncSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { commandNames } from '../commands/index.ts';
import { pruneCosts } from '../costs/index.ts';
import { evidenceOf, exportLog, publicKeyPem } from '../log/evidence.ts';
import { Damaged, KeyProblem, type Log, openLog } from '../log/index.ts';
import { closeChapter, prune, verifyAll } from '../log/upkeep.ts';
import { hasNoSpace } from '../storage/errors.ts';
import { openStore, type Store, transaction } from '../storage/index.ts';
import { refuseExisting } from '../storage/sqlite.ts';
import { rebuildAll } from '../workflow/index.ts';
import { readConfigFile } from './config-file.ts';
import { reasonOf } from './environment.ts';
import { inUsed } from './inspect.ts';
import {
  databaseOf,
  failureText,
  leave,
  leaveWith,
  readOptions,
  readText,
  refuseOptions,
  unknownWord,
  write,
} from './options.ts';

const USAGE = `signalbox audit verify
    Verifies the whole log: that no event is missing between others, modified or forged. Events that are lost at its
    end show only in their number and the last hash: compare them with those of an earlier run.

signalbox audit evidence <id>
    Writes the events of a change to standard output, as a signed file for people who have the public key.

signalbox audit key
    Writes the public key, with which others verify such a file (docs/verify) and cannot forge one.

signalbox audit export
    Writes the whole log to standard output, as a signed file.

signalbox audit prune --export <file or folder>
    Writes the whole log to a new file, or to one in this folder. Then it deletes the texts of what ended long ago,
    and old costs, as retention in signalbox.yaml permits. Hashes and signatures stay: the log still verifies.

signalbox audit close --export <file>
    Ends a damaged log: writes it to a new file and begins a new chapter, in which nothing is open. What was
    waiting can be requested again. An intact log is not closed.

Reads DATABASE_URL, SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS from the environment, like Signalbox.
prune reads signalbox.yaml, or the file of SIGNALBOX_CONFIG, as well.
All of them also work while Signalbox runs.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

interface Subcommand {
  /** What it needs after its name. */
  readonly needs?: keyof typeof NEEDS;
  /** False: the log is not intact. */
  readonly run: (given: string) => Promise<unknown>;
}

const NEEDS = {
  id: 'the id of a change',
  file: '--export, the new file with the whole log',
} as const;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  verify: { run: () => withStore('reader', verify) },
  evidence: {
    needs: 'id',
    run: (id) => withLog('reader', (log) => writeEvidence(log, id.toUpperCase())),
  },
  key: { run: () => withStore('reader', (_, keys) => write(publicKeyPem(keys()))) },
  export: { run: () => withLog('reader', (log) => exportLog(log, write)) },
  prune: { needs: 'file', run: pruneLog },
  close: {
    needs: 'file',
    run: (file) => withStore('beside', (store, keys) => close(store, keys, file)),
  },
};

/** `signalbox audit …`: sets the exit code. */
export async function runAudit(args: readonly string[]): Promise<void> {
  // A reader such as `export | head` may close the pipe early.
  process.stdout.on('error', (error) => {
    const code = reasonOf(error);
    if (code === 'EPIPE') process.exit(0);
    leave(`Standard output cannot be written (${code}).`, 1);
  });
  const refuse = (sentence: string) => refuseOptions(sentence, USAGE);
  const options = readOptions(args, { export: { type: 'string' } }, USAGE, 3);
  const [what, ...words] = options.words;
  if (what === undefined) return write(USAGE);
  const asked = Object.hasOwn(SUBCOMMANDS, what) ? SUBCOMMANDS[what] : undefined;
  if (!asked) return refuse(unknownWord('command', what, Object.keys(SUBCOMMANDS)));
  const { needs, run } = asked;
  const id = needs === 'id' ? words.shift() : undefined;
  if (words.length > 0) return refuse(`Unexpected argument: “${words.join(' ')}”.`);
  if (options.export !== undefined && needs !== 'file')
    return refuse(`${what} does not take --export.`);
  const given = id ?? options.export ?? '';
  if (needs && given === '') return refuse(`${what} needs ${NEEDS[needs]}.`);
  const isIntact = await run(given).catch((error: unknown) => leave(failureText(error), 1));
  process.exitCode = isIntact === false ? 1 : 0;
}

type Keys = ReturnType<typeof databaseOf>['keys'];

async function withStore<T>(
  as: 'beside' | 'reader',
  work: (store: Store, keys: Keys) => Promise<T>,
): Promise<T> {
  const { url, keys } = databaseOf(process.env);
  return inUsed(url, as, (store) => work(store, keys));
}

function withLog<T>(as: 'beside' | 'reader', work: (log: Log) => Promise<T>): Promise<T> {
  return withStore(as, async (store, keys) =>
    work(await openLog(store, keys(), { replacesKey: false })),
  );
}

/** Writes the result: whether every event is what was appended. */
async function verify(store: Store, keys: Keys): Promise<boolean> {
  const found = await verified(store, keys);
  if (found instanceof Error) {
    const verdict = found instanceof KeyProblem ? 'was not verified' : 'is not intact';
    await write(`The log ${verdict}. ${found.message}.\n${nextStep(found)}\n`);
    return false;
  }
  const { seq, hash } = found;
  const events = seq === 1 ? '1 event' : `${seq} events`;
  await write(
    seq === 0 ? 'The log is empty.\n' : `${events}, all intact. The last hash: ${hash}\n`,
  );
  return true;
}

async function verified(store: Store, keys: Keys) {
  try {
    const check = await verifyAll(await openLog(store, keys(), { replacesKey: false }));
    return check.ok ? check.end : check.problem;
  } catch (error) {
    if (error instanceof Damaged || error instanceof KeyProblem) return error;
    throw error;
  }
}

function nextStep(problem: Error): string {
  if (problem instanceof KeyProblem) return `Next step: ${problem.hint}.`;
  return 'Restore a backup, or end this log: signalbox audit close (docs/operating.md).';
}

async function writeEvidence(log: Log, id: string): Promise<void> {
  const file = await evidenceOf(log, id);
  if (file === null) throw new Error(`The log has no change ${id}`);
  await write(file);
}

const NO_RETENTION =
  'signalbox.yaml has no retention, so nothing was deleted. Set for example ' +
  'retention: { changes: 400d, costs: 800d }';

async function pruneLog(file: string): Promise<void> {
  const path = process.env.SIGNALBOX_CONFIG || './signalbox.yaml';
  const config = readConfigFile({ path, readFile: readText, commands: commandNames });
  if (!config.ok) return leaveWith(config.problems);
  const { changesMs, costsMs } = config.value.retention;
  if (changesMs === null && costsMs === null) throw new Error(NO_RETENTION);
  return withLog('beside', async (log) => {
    const { store } = log;
    const now = await store.clock(store.root);
    if (changesMs !== null) await write(await pruneChanges(log, now - changesMs, file));
    if (costsMs !== null) {
      const before = new Date(now - costsMs);
      const rows = await transaction(store, (tx) => pruneCosts(tx, before));
      await write(`Deleted ${rows} rows of costs from before ${dayText(before)}.\n`);
    }
  });
}

async function pruneChanges(log: Log, before: number, path: string): Promise<string> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
  const file = isFolder ? join(path, nameAt(await log.store.clock(log.store.root))) : path;
  const digest = await toNewFile(file, (line) => exportLog(log, line));
  let pruned = 0;
  for (;;) {
    const more = await prune(log, { before, export: digest });
    if (more === 0) break;
    pruned += more;
  }
  const what = pruned === 1 ? '1 subject' : `${pruned} subjects`;
  return (
    `${file} has the whole log. Its digest: ${digest}\n` +
    `Deleted the texts of ${what} that ended before ${dayText(new Date(before))}; their hashes stay.\n`
  );
}

/** `signalbox-log-2026-12-01T034700Z.jsonl`: a folder keeps the export of each run. */
function nameAt(now: number): string {
  const at = new Date(now).toISOString().replace(/:|\.\d+/g, '');
  return `signalbox-log-${at}.jsonl`;
}

function dayText(at: Date): string {
  return at.toISOString().slice(0, 10);
}

async function close(store: Store, keys: Keys, file: string): Promise<void> {
  const { from, damage, ended } = await toNewFile(file, (line) =>
    closeChapter(store, keys(), line),
  );
  const open = ended.length === 1 ? '1 open subject has' : `${ended.length} open subjects have`;
  await write(
    `${damage}.\n${file} has the closed log, up to event ${from.seq}. ${open} ended: what was waiting ` +
      'can be requested again. Start Signalbox again.\n',
  );
}

/** Writes a file that only its owner can read. After an error it is gone. */
async function toNewFile<T>(path: string, work: (write: (line: string) => void) => Promise<T>) {
  refuseExisting(path);
  const file = naming(path, () => openSync(path, 'wx', 0o600));
  try {
    // It writes the whole line, or throws: one call of the system may write a part.
    const result = await work((line) => naming(path, () => writeFileSync(file, line)));
    naming(path, () => fsyncSync(file));
    closeSync(file);
    return result;
  } catch (error) {
    closeSync(file);
    rmSync(path);
    throw error;
  }
}

/** An error of the system without a path would be taken for one of the database. */
function naming<T>(path: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (hasNoSpace(error)) throw new Error(`The disk of ${path} is full: free some space`);
    throw new Error(`The file ${path} cannot be written (${reasonOf(error)})`);
  }
}

const REBUILD_USAGE = `signalbox rebuild
    Deletes all lists and everything that is due, and makes them again from the log. Nothing is sent or
    posted twice because of it. It also works while Signalbox runs, which waits meanwhile.
Reads DATABASE_URL, SIGNALBOX_KEY and SIGNALBOX_PREVIOUS_KEYS from the environment, like Signalbox.
Exit code: 0 success, 1 failure, 2 wrong options.
`;

/** `signalbox rebuild` */
export async function runRebuild(args: readonly string[]): Promise<void> {
  readOptions(args, {}, REBUILD_USAGE);
  await withLog('beside', rebuildAll).catch((error: unknown) => leave(failureText(error), 1));
  await write('Lists and due work were made again from the log.\n');
}

const MIGRATE_USAGE = `signalbox migrate [--for <role>]
    Makes the tables of this release, as a start does, with the owner of the database in DATABASE_URL.
    --for   a role of PostgreSQL that may then run Signalbox, and owns nothing
Exit code: 0 success, 1 failure, 2 wrong options.
`;

/** `signalbox migrate` */
export async function runMigrate(args: readonly string[]): Promise<void> {
  const options = readOptions(args, { for: { type: 'string' } }, MIGRATE_USAGE);
  const { url } = databaseOf(process.env);
  if (options.for !== undefined && url.startsWith('file:'))
    return leave('--for is for PostgreSQL: SQLite has no roles.', 2);
  await openStore(url, { grantsTo: options.for }).then(
    ({ close: end }) => end(),
    (error: unknown) => leave(failureText(error), 1),
  );
  await write('The database has the tables of this release.\n');
}
