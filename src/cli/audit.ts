import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import packageJson from '../../package.json' with { type: 'json' };
import { commandNames } from '../commands/registry.ts';
import { readConfigFile } from '../config/load-config.ts';
import { exportEvents } from '../log/old/audit-export.ts';
import { lastCheckpoint } from '../log/old/checkpoints.ts';
import { announceRestore } from '../log/old/restore-mark.ts';
import { databaseSentence } from '../storage/errors.ts';
import { openDatabase } from '../storage/old/database.ts';
import { openReader } from '../storage/old/reader.ts';
import { archive } from './audit/archive.ts';
import { verify } from './audit/verify.ts';
import { AUDIT_USAGE, type AuditRequest, readAuditOptions } from './audit-options.ts';
import { leave, storeOf } from './store.ts';

const { stdout, stderr } = process;
const END_OF_TIME = new Date(8.64e15);

async function write(text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain');
}

async function run(request: AuditRequest): Promise<number> {
  if (request.kind === 'help') return write(AUDIT_USAGE).then(() => 0);
  const { url, key } = storeOf(process.env);
  if (request.kind === 'restored') return announce(url);
  if (request.kind === 'archive') return runArchive(request);
  const reader = await openReader(url);
  try {
    if (request.kind === 'verify') {
      const isTerminal = stderr.isTTY === true;
      const progress = (text: string) => void stderr.write(text);
      const out = (text: string) => void stdout.write(text);
      const { anchor, segments } = request;
      return (await verify(reader.db, { key, anchor, segments }, { out, progress, isTerminal }))
        ? 0
        : 1;
    }
    const { since, until, format } = request;
    const span = { since, until: until ?? END_OF_TIME };
    const archived = await lastCheckpoint(reader.db, key);
    if (archived && since < archived.before)
      stderr.write(
        `Events 1 to ${archived.last} are archived: segments have them, not this output.\n`,
      );
    for await (const text of exportEvents(reader.db, span, format)) await write(text);
    return 0;
  } finally {
    await reader.close();
  }
}

async function runArchive(request: AuditRequest & { kind: 'archive' }): Promise<number> {
  const { url, key } = storeOf(process.env);
  const readFile = (path: string) => readFileSync(path, 'utf8');
  const path = process.env.SIGNALBOX_CONFIG || './signalbox.yaml';
  const config = readConfigFile({ path, readFile, commands: commandNames, hasKey: true });
  if (!config.ok) {
    const lines = config.problems.map(({ where, problem, hint }) =>
      [`${where} ${problem}`, ...(hint ? [hint] : [])].join(': '),
    );
    return leave(lines.join('\n'), 2);
  }
  const { retention } = config.value;
  const { version } = packageJson;
  const database = await openDatabase(url);
  try {
    const lines = await archive(database, { ...request, key, version, retention });
    await write(`${lines.join('\n')}\n`);
  } finally {
    await database.close();
  }
  return 0;
}

async function announce(url: string): Promise<number> {
  const database = await openDatabase(url);
  await database.transaction((tx) => announceRestore(tx, new Date()));
  await database.close();
  await write(
    'Recorded. At its next start Signalbox marks every open change of this database as stale ' +
      'and sends none of them. They can be requested again.\n',
  );
  return 0;
}

/** `signalbox audit …`: sets the exit code. */
export async function runAudit(args: readonly string[]): Promise<void> {
  // A reader such as `export | head` may close the pipe early.
  stdout.on('error', (error) => {
    process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1);
  });
  const options = readAuditOptions(args);
  if (!options.ok) leave(`${options.sentence}\n\n${AUDIT_USAGE}`, 2);
  process.exitCode = await run(options.request).catch((error: unknown) => {
    const reason = error instanceof Error ? error.message : String(error);
    return leave(databaseSentence(error) ?? reason, 1);
  });
}
