import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ALERTS } from '../../sandbox/seed/alerts.ts';
import { ALERTS_TOKEN, CLOUD_KEY, ORGANIZATION } from '../../sandbox/seed/organization.ts';
import { sandboxWorkspace } from '../../sandbox/slack/workspace/sandbox-workspace.ts';
import { type Recorded, readRecording, replay } from '../harness/replay.ts';
import { requestChange, waitUntilIdle } from '../harness/requests.ts';
import { SIGNING_SECRET } from '../harness/simulators.ts';
import { startTestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, CLEO } from '../harness/users.ts';

const folder = () => mkdtempSync(join(tmpdir(), 'signalbox-recording-'));
const only = (into: string) => join(into, readdirSync(into)[0] ?? '');

/** A stop that two people approve, with the bot recording. */
async function recordStop() {
  const into = folder();
  const sandbox = await startTestSandbox({ env: { SIGNALBOX_RECORD: into } });
  const card = await requestChange(
    sandbox,
    undefined,
    '/service stop analytics-prod nightly maintenance',
  );
  await sandbox.press(BEN, card, 'change.approve');
  await sandbox.card('1 of 2');
  await sandbox.press(CLEO, card, 'change.approve');
  await sandbox.card('analytics-prod is stopping');
  await sandbox.down();
  return { sandbox, recorded: only(into) };
}

/** What is made up at each run, by the order in which it appears. */
function numbered() {
  const seen = new Map<string, number>();
  const number = (id: string) => seen.set(id, seen.get(id) ?? seen.size).get(id);
  return (text: string) =>
    // The API takes another time to answer.
    text
      .replaceAll(/xxxxx 9+ xx/g, 'after 9 ms')
      .replace(/"(block_id|value|user_id)":"([^"]*)"/g, (_, name, id) => `${name} ${number(id)}`);
}

/** The last state of each message that people read, in the order in which the messages were posted. */
function messagesOf(entries: readonly Recorded[]) {
  const shown = new Map<string, unknown>();
  for (const { call, sent, arrived } of entries) {
    if (call !== 'chat.postMessage' && call !== 'chat.update') continue;
    const ts = call === 'chat.update' ? sent.ts : Object(arrived).ts;
    shown.set(`${ts}`, { text: sent.text, blocks: sent.blocks, thread: sent.thread_ts });
  }
  const inOrder = [...shown].toSorted(([one], [other]) => (one < other ? -1 : 1));
  const number = numbered();
  return inOrder.map(([, message]) => number(JSON.stringify(message)));
}

test('a recorded stop with its approvals is replayed to the same cards', async () => {
  const { recorded } = await recordStop();
  const again = folder();

  expect(await replay(recorded, again)).toEqual([]);

  const [then, now] = [readRecording(recorded), readRecording(only(again))].map(messagesOf);
  expect(now).toEqual(then);
  // The request of the API.
  const [sent, sentAgain] = [recorded, only(again)].map((each) =>
    readRecording(each).filter(({ call }) => call.startsWith('PATCH ')),
  );
  expect(sentAgain?.map(({ sent }) => sent)).toEqual(sent?.map(({ sent }) => sent));
  expect(sent).toHaveLength(1);
});

const CREATE =
  '/service create "zanzibar lake" provider=aws region=eu-central-1 ip=10.20.30.0/24 because Ostrich Ltd asked';

test('a recording contains no secret, no name, no id and no text of people', async () => {
  const into = folder();
  const yaml = (file: Record<string, never>) => ({ ...file, cloud: { reads: 'extended' } });
  const env = { SIGNALBOX_RECORD: into };
  const sandbox = await startTestSandbox({ env, yaml });
  for (const line of ['/service list', '/alert list', '/cost 7d', '/service show staging']) {
    await sandbox.slack.command(ANA, 'ops', line);
    await waitUntilIdle(sandbox);
  }
  await sandbox.confirm(ANA, CREATE, 'zanzibar');
  await sandbox.press(BEN, await sandbox.card('zanzibar'), 'change.approve');
  await sandbox.card('is being created');
  await sandbox.down();

  const entries = readRecording(only(into));
  const created = entries.find(({ call }) => /^POST .*services$/.test(call));
  expect(created?.arrived).toMatchObject({ result: { password: '[removed]' } });
  const file = JSON.parse(readFileSync(join(only(into), 'signalbox.json'), 'utf8'));
  const written = texts([entries.map(({ sent, arrived }) => [sent, arrived]), file]).join('\n');
  const found = [...planted(sandbox.slack)].filter((word) =>
    new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, 'iu').test(written),
  );
  expect(found).toEqual([]);
  expect(planted(sandbox.slack).size).toBeGreaterThan(150);
});

/** Values of the APIs' own enumerations, which a replay needs. */
const OF_THE_APIS = new Set(
  `paid scale central running west idle stopped degraded europe west4 user service stop create update autoscaling memory
  above alert webhook search page tile between deviates flapping below pager backup https equal disabled`.split(
    /\s+/,
  ),
);

/** Every id and every word of a name that the simulators know, and what Ana typed. */
function planted({ botToken }: { readonly botToken: string }): ReadonlySet<string> {
  const seeds = [sandboxWorkspace, ORGANIZATION, ALERTS, ALERTS_TOKEN, CLOUD_KEY, SIGNING_SECRET];
  const words = [...texts(seeds), botToken, 'zanzibar', 'lake', 'ostrich', '10.20.30.0'];
  const found = words.flatMap((word) => word.match(/[0-9a-f-]{24,36}|[\p{L}\p{N}]{4,}/giu) ?? []);
  return new Set(found.filter((word) => !OF_THE_APIS.has(word.toLowerCase())));
}

function texts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(texts) : [];
}
