import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { sandboxWorkspace } from '../../sandbox/slack/sandbox-workspace.ts';
import type { Group, Workspace } from '../../sandbox/slack/workspace.ts';
import { freshUrl } from '../storage/engines.ts';
import { ask } from './asking.ts';
import { ANA, BEN, openStage } from './stage.ts';

function withGroup(handle: string, change: Partial<Group> | null): Workspace {
  const groups = sandboxWorkspace.groups.flatMap((group) => {
    if (group.handle !== handle) return [group];
    return change === null ? [] : [{ ...group, ...change }];
  });
  return { ...sandboxWorkspace, groups };
}

test.for<[string, Workspace, string]>([
  ['is not there', withGroup('db-leads', null), 'no user group @db-leads'],
  ['is disabled', withGroup('db-leads', { disabled: true }), '@db-leads is disabled'],
  ['is empty', withGroup('db-leads', { users: [] }), 'approver'],
  ['holds only the one who asks', soleOperator(), 'approv'],
  ['holds one where two must approve', withGroup('db-leads', { users: [BEN] }), '2'],
])('a group that %s stops the start', async ([, workspace, words]) => {
  const { started } = await openStage({ workspace });
  expect(started.ok).toBe(false);
  if (!started.ok) expect(JSON.stringify(started.problems)).toContain(words);
});

function soleOperator(): Workspace {
  const groups = sandboxWorkspace.groups.map((group) =>
    group.handle === 'engineering' ? group : { ...group, users: [ANA] },
  );
  return { ...sandboxWorkspace, groups };
}

test('a person of the file whom Slack does not know stops the start, by name', async () => {
  const { started } = await openStage({
    yaml: (file) =>
      JSON.parse(
        JSON.stringify(file).replace('["@db-leads"]', '["@db-leads"],"users":["U0123ABCD"]'),
      ),
  });
  expect(started.ok).toBe(false);
  if (!started.ok)
    expect(JSON.stringify(started.problems)).toContain('nobody with the id U0123ABCD');
});

test('the same story works over a socket, without any address of ours', async () => {
  const stage = await openStage({ delivery: 'socket' });
  await stage.press(BEN, await ask(stage), 'change.approve');
  await stage.card('Stop staging: accepted');
  expect(stage.cloud.count('set state')).toBe(1);
});

test('health and readiness are told apart', async () => {
  const stage = await openStage();
  expect((await fetch(`${stage.url}/healthz`)).status).toBe(200);
  expect((await fetch(`${stage.url}/readyz`)).status).toBe(200);
});

test.for([
  ['a file that is something else', 'This file is not a database of Signalbox'],
  ['a server that does not answer', 'is the server at DATABASE_URL running?'],
])('%s stops the start, with what to look at', async ([what = '', sentence = '']) => {
  const { started } = await openStage({ databaseUrl: await unusable(what) });
  expect(started.ok).toBe(false);
  if (!started.ok) {
    expect(started.problems).toHaveLength(1);
    expect(started.problems[0]?.where).toBe('DATABASE_URL');
    expect(started.problems[0]?.problem).toContain(sentence);
  }
});

async function unusable(what: string): Promise<string> {
  if (what.startsWith('a server')) return 'postgres://nobody:none@127.0.0.1:1/none';
  const url = await freshUrl('sqlite');
  writeFileSync(fileURLToPath(url), 'a letter, not a database '.repeat(100));
  return url;
}
