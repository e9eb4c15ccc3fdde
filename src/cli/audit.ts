import { once } from 'node:events';
import { openDatabase } from '../storage/engine/database.ts';
import { databaseProblem } from '../storage/engine/database-errors.ts';
import { openReader } from '../storage/engine/reader.ts';
import { announceRestore } from '../storage/tables/restore-mark.ts';
import { exportEvents } from './audit-export.ts';
import { AUDIT_USAGE, type AuditRequest, readAuditOptions } from './audit-options.ts';
import { verify } from './audit-verify.ts';
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
  const reader = await openReader(url);
  try {
    if (request.kind === 'verify') {
      const isTerminal = stderr.isTTY === true;
      const progress = (text: string) => void stderr.write(text);
      const out = (text: string) => void stdout.write(text);
      const { anchor } = request;
      return (await verify(reader.db, { key, anchor }, { out, progress, isTerminal })) ? 0 : 1;
    }
    const { since, until, format } = request;
    const span = { since, until: until ?? END_OF_TIME };
    for await (const text of exportEvents(reader.db, span, format)) await write(text);
    return 0;
  } finally {
    await reader.close();
  }
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

// A reader such as `export | head` may close the pipe early.
stdout.on('error', (error) => {
  process.exit('code' in error && error.code === 'EPIPE' ? 0 : 1);
});

const options = readAuditOptions(process.argv.slice(2));
if (!options.ok) leave(`${options.sentence}\n\n${AUDIT_USAGE}`, 2);
process.exitCode = await run(options.request).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  return leave(databaseProblem(error) ?? reason, 1);
});
