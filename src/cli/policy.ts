import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readStore } from '../config/environment.ts';
import type { ConfigProblem } from '../policy/problem.ts';
import { databaseSentence } from '../storage/engine/database-errors.ts';
import { openReader } from '../storage/engine/reader.ts';
import { problemReport, readCases, readPolicyFile } from './policy/read-files.ts';
import { replayRequests } from './policy/replay.ts';
import { runCases } from './policy/run-cases.ts';
import {
  type AcceptedIds,
  POLICY_USAGE,
  type PolicyRequest,
  type ReplayRequest,
  readAcceptList,
  readPolicyOptions,
} from './policy-options.ts';

const { stdout, stderr } = process;
const env = process.env;
const readFile = (path: string) => readFileSync(path, 'utf8');

function leave(sentence: string): never {
  stderr.write(sentence);
  process.exit(2);
}

function leaveWith(problems: readonly ConfigProblem[]): never {
  return leave(problemReport(problems));
}

async function write(text: string): Promise<void> {
  if (!stdout.write(text)) await once(stdout, 'drain');
}

async function run(request: PolicyRequest): Promise<boolean> {
  if (request.kind === 'help') return write(POLICY_USAGE).then(() => true);
  return request.kind === 'test' ? test(request) : replayRecorded(request);
}

async function test({ cases, config }: PolicyRequest & { kind: 'test' }): Promise<boolean> {
  const path = config ?? (env.SIGNALBOX_CONFIG || './signalbox.yaml');
  const read = readCases({ cases, config: path, readFile });
  if (!read.ok) return leaveWith(read.problems);
  const { text, isAsExpected } = runCases(cases, read.value);
  await write(text);
  return isAsExpected;
}

async function replayRecorded(request: ReplayRequest): Promise<boolean> {
  const { file: path, sinceMs } = request;
  const file = readPolicyFile(path, readFile);
  const store = readStore(env, readFile);
  const listed = acceptList(request.acceptFile);
  const problems = [file, store, listed].flatMap((read) => (read.ok ? [] : read.problems));
  if (!file.ok || !store.ok || !listed.ok) return leaveWith(problems);
  const accept: AcceptedIds =
    request.accept === 'all' ? 'all' : [...request.accept, ...listed.value];
  const until = new Date();
  const since = new Date(until.getTime() - sinceMs);
  const reader = await openReader(store.value.DATABASE_URL.reveal());
  try {
    return await replayRequests(reader.db, { file: file.value, since, until, accept }, write);
  } finally {
    await reader.close();
  }
}

function acceptList(path: string | null): ReturnType<typeof readAcceptList> {
  if (path === null) return { ok: true, value: [] };
  try {
    return readAcceptList(readFile(path), path);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : 'unknown error';
    const problem = `cannot be read (${code})`;
    return { ok: false, problems: [{ where: path, problem, hint: null }] };
  }
}

// A reader such as `… | head` may close the pipe early: then the result is incomplete.
stdout.on('error', () => process.exit(2));

const options = readPolicyOptions(process.argv.slice(2));
if (!options.ok) leave(`${options.sentence}\n\n${POLICY_USAGE}`);
const isSame = await run(options.request).catch((error: unknown) => {
  const reason = error instanceof Error ? error.message : String(error);
  return leave(`${databaseSentence(error) ?? reason}\n`);
});
process.exitCode = isSame ? 0 : 1;
