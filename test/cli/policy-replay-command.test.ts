import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { EXAMPLE } from '../config/fixtures.ts';
import { SIGNALBOX } from '../harness/programs.ts';
import { runCommand } from '../harness/run-command.ts';
import { ENGINES } from '../storage/engines.ts';
import { openRecorded, STRICTER } from './recorded-requests.ts';

/** The command as users run it, next to a bot. */
function replay(url: string, yaml: string, ...args: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-replay-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'other.yaml');
  writeFileSync(file, yaml);
  const words = [SIGNALBOX, 'policy', 'replay', '--with', file, ...args];
  return runCommand(words, { DATABASE_URL: url });
}

test.for(ENGINES)(
  'the same file decides the recorded requests the same, next to a bot on %s',
  async (engine) => {
    const recorded = await openRecorded(engine);
    await recorded.draft();
    await recorded.refuse({ refusal: 'not-a-requester', roles: ['viewer'] });
    const { out, err, code } = await replay(recorded.url, EXAMPLE);
    expect({ err, code }).toEqual({ err: '', code: 0 });
    expect(out).toMatch(/^2 change requests since .*Z: 2 decided the same, 0 otherwise, 0 of them/);
    // The bot goes on writing.
    await recorded.draft();
  },
);

test.for(ENGINES)('a difference is listed with both rules and the reason on %s', async (engine) => {
  const recorded = await openRecorded(engine);
  const id = await recorded.draft();
  const { out, code } = await replay(recorded.url, STRICTER);
  expect(code).toBe(1);
  expect(out).toMatch(new RegExp(`^✗ ${id}  \\S+Z  U0ANA0001  service stop on staging$`, 'm'));
  expect(out.split('\n').slice(1, 4)).toEqual([
    '    recorded: 1 approval from approver (rule 3)',
    '    now:      2 approvals from approver (rule 3)',
    '    why:      approvals: 1 approval from approver → 2 approvals from approver',
  ]);
  expect(out).toContain('1 change request since');
  expect(out).toContain('0 decided the same, 1 otherwise, 0 of them accepted.');
  expect(out).not.toContain('assumed:');
});

test('accepted differences are marked and do not fail', async () => {
  const recorded = await openRecorded();
  const [first, second] = [await recorded.draft(), await recorded.draft()];
  const one = await replay(recorded.url, STRICTER, '--accept', first);
  expect(one.code).toBe(1);
  expect(one.out).toMatch(new RegExp(`^~ ${first} .* \\(accepted\\)$`, 'm'));
  expect(one.out).toMatch(new RegExp(`^✗ ${second} `, 'm'));
  expect(one.out).toContain('2 otherwise, 1 of them accepted.');
  const both = await replay(recorded.url, STRICTER, '--accept', `${first}, ${second},7KQ2MX`);
  expect(both.code).toBe(0);
  expect(both.out).toContain('Accepted, but without a difference: 7KQ2MX.');
  expect((await replay(recorded.url, STRICTER, '--accept', 'all')).code).toBe(0);
});

test('a list of accepted differences is a file with comments', async () => {
  const recorded = await openRecorded();
  const id = await recorded.draft();
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-accept-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const list = join(folder, 'accepted.txt');
  writeFileSync(list, `# Agreed in #42\n\n${id}  # two approvers now\n`);
  expect((await replay(recorded.url, STRICTER, '--accept-file', list)).code).toBe(0);
  writeFileSync(list, `${id}\nall of them\n`);
  const { err, code } = await replay(recorded.url, STRICTER, '--accept-file', list);
  expect(code).toBe(2);
  expect(err).toContain(`${list}:2  “all of them” is no id of a difference`);
  const missing = await replay(recorded.url, 'policy: []', '--accept-file', join(folder, 'none'));
  expect(missing.code).toBe(2);
  expect(missing.err).toContain('none  cannot be read (ENOENT)');
  expect(missing.err).toContain('other.yaml:1 policy  must not be empty');
});

test('a database that does not exist has an error sentence, and the exit code is 2', async () => {
  const { err, code } = await replay('file:/nowhere/at/all.db', EXAMPLE);
  expect(err).toBe('The database cannot be opened, or does not exist. Check DATABASE_URL.\n');
  expect(code).toBe(2);
});
