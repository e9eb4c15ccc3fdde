import { expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import type { EditYaml } from '../harness/config.ts';
import { startExtended } from '../harness/following.ts';
import { type Readable, textOf } from '../harness/messages.ts';
import { cardAfterRetries, STAGING } from '../harness/requests.ts';
import { startTestSandbox, type TestSandbox } from '../harness/test-sandbox.ts';
import { ANA, BEN, DORA } from '../harness/users.ts';

const READS = ['get service', 'scaling schedule', 'list activities'];

async function shown(sandbox: TestSandbox, line: string, words: string, as = ANA) {
  return await sandbox.ask(as, line, words);
}

/** The lines before the buttons. */
function linesOf({ text }: Readable): readonly string[] {
  return text.split('\n').slice(1);
}

function pass({ clock }: TestSandbox, ms: number) {
  clock.now = new Date(clock.now.getTime() + ms);
}

test('a service is shown as the server has it now, in at most eight lines', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.scaleInConsole(STAGING, { minReplicaMemoryGb: 24 }, 'Mara');
  pass(sandbox, 120_000);
  const answer = await shown(sandbox, '/service show staging', 'checked just now');
  const lines = linesOf(answer);
  expect(lines[0]).toBe('State  running (checked just now) · staging · warehouse lab');
  expect(lines[1]).toMatch(/^Size {2}24–\d+ GB × \d replicas?$/);
  expect(lines[2]).toMatch(/^Idling {2}/);
  expect(lines[3]).toBe('Schedule  none');
  expect(lines[4]).toMatch(/^Endpoints {2}https \S+:8443, nativesecure \S+:9440$/);
  expect(lines[5]).toMatch(/^IP access {2}\d entr(y|ies): /);
  expect(lines[6]).toMatch(
    /^Elsewhere {2}Memory scaled in the console by mara@example.com, <!date/,
  );
  expect(lines.length).toBeLessThanOrEqual(8);
  expect(textOf(answer)).toContain(`"value":"service show ${STAGING} details"`);
});

test('the details have every fact', async () => {
  const sandbox = await startExtended();
  const overview = await sandbox.ask(ANA, '/service show staging', 'checked just now');
  await sandbox.press(ANA, overview, 'command.2');
  const details = await sandbox.privateMessage(ANA, 'Engine version');
  expect(details?.text).toContain(`Id  ${STAGING}`);
  expect(details?.text).toContain('Elsewhere  no change in the last 7 days');
  expect(details?.text).toContain('Seen in  read from the server');
  expect(details?.text).toMatch(/^IAM role {2}role-1525c708$/m);
  expect(details?.text).toMatch(/^Private endpoint {2}none$/m);
});

test('the active entry of a scaling schedule is shown with the applied size', async () => {
  const sandbox = await startExtended();
  const answer = await shown(sandbox, '/service show bi-readonly', 'checked just now');
  expect(answer.text).toContain(
    'Schedule  Business hours: Mon Tue Wed Thu Fri 06–18 UTC, 64 GB × 2 replicas (applies now)',
  );
  expect(answer.text).toMatch(/Size {2}64 GB.*scaling schedule entry “Business hours”.*otherwise/);
});

test('who changed a service elsewhere is shown to its operators only', async () => {
  const sandbox = await startExtended();
  const operator = await shown(sandbox, '/service show reporting-core', 'Elsewhere');
  expect(operator.text).toContain('Memory scaled in the console by mara@example.com');
  const viewer = await shown(sandbox, '/service show reporting-core', 'Elsewhere', DORA);
  expect(viewer.text).toContain('Elsewhere  Memory scaled outside Signalbox, ');
  const details = await shown(sandbox, '/service show reporting-core details', 'Seen in', DORA);
  for (const { text } of [viewer, details]) {
    expect(text).not.toMatch(/mara|console|203\.0\.113/);
  }
});

test('a change of Signalbox is shown as its own and not as one made elsewhere', async () => {
  const sandbox = await startExtended();
  await sandbox.confirm(ANA, '/service stop staging for the night', 'Stop staging?');
  await sandbox.press(BEN, await sandbox.card('requests: stop staging'), 'change.approve');
  // The usage report uses up the reads of the first ten seconds.
  await cardAfterRetries(sandbox, 'staging is stopping');
  pass(sandbox, 600_000);
  const answer = await shown(sandbox, '/service show staging', 'State  stopped');
  expect(answer.text).toContain('staging is stopping · <@U0ANA00001>');
  expect(answer.text).not.toContain('Elsewhere');
});

test('changes are shown only to a user who may list changes', async () => {
  const without: EditYaml = (file) => ({
    ...file,
    cloud: { reads: 'extended' },
    policy: [
      { allow: ['service show'], to: 'viewer' },
      { allow: ['change list', 'service stop'], to: 'operator' },
    ],
  });
  const sandbox = await startTestSandbox({ yaml: without });
  await sandbox.confirm(ANA, '/service stop staging for the night', 'Stop staging?');
  await cardAfterRetries(sandbox, 'staging is stopping');
  expect((await shown(sandbox, '/service show staging', 'State')).text).toContain(
    'staging is stopping',
  );
  const viewer = await shown(sandbox, '/service show staging', 'State', DORA);
  expect(viewer.text).not.toContain('staging is stopping');
});

test('hosts and addresses are only in private messages', async () => {
  const sandbox = await startExtended();
  await sandbox.ask(DORA, '/service show staging details', 'IP access');
  const host = `${STAGING.slice(0, 8)}.`;
  const seen = sandbox.slack.clientState(ANA).messages.filter((one) => textOf(one).includes(host));
  expect(seen).toEqual([]);
  const posted = ['ops', 'db-approvals', 'db-audit'].flatMap((channel) =>
    sandbox.slack.messages(channel).filter(({ ephemeralFor }) => !ephemeralFor),
  );
  expect(posted.map(textOf).join('\n')).not.toContain(host);
});

test('in a direct message of the app, the details are for the user who asks', async () => {
  const sandbox = await startExtended();
  await sandbox.slack.openHome({ as: ANA });
  const text = 'service show staging details';
  await sandbox.slack.sendMessage({ as: ANA, channel: 'D0ANA00001', text });
  const answer = await sandbox.privateMessage(ANA, 'IP access');
  expect(answer).toMatchObject({ channel: 'D0ANA00001', ephemeral: false });
  const seen = sandbox.slack.clientState(DORA).messages.map(textOf).join('\n');
  expect(seen).not.toContain('IP access');
});

test('with cloud.reads: contract nothing is read, and the last seen values are shown', async () => {
  const sandbox = await startTestSandbox();
  const answer = await shown(sandbox, '/service show staging', 'State');
  expect(answer.text).toContain('State  unknown · staging · warehouse lab');
  expect(textOf(answer)).toContain(
    'Current state: Unknown: signalbox.yaml has cloud.reads: contract, so Signalbox does not read it.',
  );
  expect(answer.text).not.toContain('Schedule');
  expect(sandbox.cloud.requests().filter(({ operation }) => READS.includes(operation))).toEqual([]);
});

test.for(['403', '503'])(
  'after %s of the service or of its activities, that is unknown and the rest is shown',
  async (fault) => {
    const sandbox = await startExtended();
    sandbox.cloud.injectFault({ operation: 'get service', fault, times: 9 });
    const answer = await shown(sandbox, '/service show reporting-core', 'Elsewhere');
    expect(answer.text).toMatch(/State {2}unknown · /);
    expect(textOf(answer)).toContain('Current state: Unknown: ');
    sandbox.cloud.clearFaults();
    sandbox.cloud.injectFault({ operation: 'list activities', fault, times: 9 });
    pass(sandbox, 600_001);
    const details = await shown(sandbox, '/service show reporting-core details', 'Seen in');
    expect(details.text).toContain('Elsewhere  Unknown: ');
    expect(details.text).toContain('State  running');
  },
);

test('a server that reports no applied size has its schedule read apart', async () => {
  const sandbox = await startExtended();
  sandbox.cloud.behave({ serviceGeneration: 2 });
  const answer = await shown(sandbox, '/service show bi-readonly', 'checked just now');
  expect(answer.text).toContain('Schedule  Business hours');
  sandbox.cloud.setKey(CLOUD_KEY.id, { denied: ['scaling schedule'] });
  pass(sandbox, 600_001);
  const refused = await shown(sandbox, '/service show bi-readonly', 'Schedule  Unknown');
  expect(refused.text).toContain('the API key has no permission to read it (403)');
});
