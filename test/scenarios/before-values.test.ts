import { describe, expect, test } from 'vitest';
import { CLOUD_KEY } from '../../sandbox/seed/organization.ts';
import { buttonsOf, textOf } from '../harness/messages.ts';
import { timeInSteps } from '../harness/passing-time.ts';
import { requestChange } from '../harness/requests.ts';
import { startTestSandbox, type TestSandboxOptions } from '../harness/test-sandbox.ts';
import { ANA, BEN, FINN } from '../harness/users.ts';

const STAGING = '1525c708-e4bc-426d-a9e7-d11b6c27caf5';
const LAB_CORE = 'a2af003f-e3c9-4f31-9f9f-0b74cdf7e6c9';
const CHECKED = 'running (checked just now)';

async function started(options: TestSandboxOptions = {}) {
  const yaml = (file: Record<string, never>) => ({ ...file, cloud: { reads: 'extended' } });
  const sandbox = await startTestSandbox({ yaml, ...options });
  const pass = (seconds: number) => sandbox.pass(seconds * 1_000);
  /** Waits for a card while the time passes. What an execution gathered is valid for 30 s of it. */
  const cardLater = async (words: string, passOn: () => unknown = timeInSteps(sandbox, 11_000)) => {
    const texts = () => sandbox.slack.messages('db-approvals').map(textOf).join('\n');
    await expect
      .poll(() => {
        passOn();
        return texts();
      })
      .toContain(words);
    return sandbox.card(words);
  };
  return { ...sandbox, pass, cardLater };
}

type Sandbox = Awaited<ReturnType<typeof started>>;

/** The text of the private answer. */
async function answered(sandbox: Sandbox, line: string, words: string): Promise<string> {
  // The budget of requests is used up by the usage report otherwise.
  sandbox.pass(11);
  await sandbox.slack.command(ANA, 'ops', line);
  return (await sandbox.privateMessage(ANA, words))?.text ?? '';
}

async function approved(sandbox: Sandbox, line: string) {
  const card = await requestChange(sandbox, ANA, line);
  sandbox.pass(11);
  return { card, approve: () => sandbox.press(BEN, card, 'change.approve') };
}

describe('a preview', () => {
  test.for<[string, string, readonly string[]]>([
    ['/service stop staging', 'Stop staging?', [CHECKED, '8–32 GB × 2 replicas']],
    ['/service start archive', 'Start archive?', ['stopped (checked just now)', '× 1 replica']],
    ['/service start ci', 'Start ci?', ['Idle, not stopped: the next query wakes it']],
    ['/service stop ci', 'Stop ci?', ['Idle now: once it is stopped, queries no longer wake it']],
    [
      '/service scale lab-core replicas=1',
      'Scale lab-core?',
      ['Replicas  2 → 1', 'some servers reject it for the first service of a warehouse'],
    ],
    [
      '/service scale bi-readonly min=16 max=32 "month end"',
      'Scale bi-readonly?',
      [
        'running (checked just now) · 64 GB × 2 replicas',
        'Minimum memory per replica (GB)  8 → 16',
        '“Business hours” applies until 18:00 UTC: your values become the baseline',
      ],
    ],
    [
      '/service scale ml-features min=32 max=32',
      'Scale ml-features?',
      ['16 GB × 2–4 replicas', 'Minimum memory per replica (GB)  16 → 32'],
    ],
  ])('of %s shows what was read', async ([line, title, words]) => {
    const sandbox = await started();
    const text = await answered(sandbox, line, title);
    for (const each of words) expect(text).toContain(each);
    expect(text).not.toContain('state unknown');
  });

  test('of a primary whose secondaries run is refused', async () => {
    const sandbox = await started();
    const text = await answered(sandbox, '/service stop lab-core', 'primary of its warehouse');
    expect(text).toContain('Stop them first: analytics-dev, staging, ci');
  });

  test('of a primary without running secondaries does not name them as running', async () => {
    const sandbox = await started();
    for (const { id, warehouseId, isPrimary } of sandbox.cloud.services()) {
      const lab = sandbox.cloud.service(LAB_CORE)?.warehouseId;
      if (warehouseId === lab && !isPrimary) sandbox.cloud.setServiceState(id, 'stopped');
    }
    const text = await answered(sandbox, '/service stop lab-core', 'Stop lab-core?');
    expect(text).toContain('some servers reject the stop while it has secondaries: ');
    expect(text).not.toContain('Stop them first');
  });

  test('in contract mode sends no read and shows what was last seen', async () => {
    const sandbox = await started({ yaml: (file) => file });
    const text = await answered(sandbox, '/service stop staging', 'Stop staging?');
    expect(text).toContain('never seen');
    expect(text).not.toContain('checked');
    expect(sandbox.cloud.count('get service')).toBe(0);
  });
});

describe('a change without effect', () => {
  test.for<[string, string, readonly string[]]>([
    ['/service stop archive', 'archive is already stopped (checked just now)', ['Start it…']],
    ['/service start staging', 'staging is already running (checked just now)', ['Stop it…']],
    [
      '/service scale staging min=8 max=32 idle=on',
      'staging already has these values (checked just now)',
      ['Minimum memory per replica (GB) 8', 'Scale to zero when idle on'],
    ],
  ])('is not requested: %s', async ([line, sentence, words]) => {
    const sandbox = await started();
    await sandbox.slack.command(ANA, 'ops', line);
    const answer = textOf(await sandbox.privateMessage(ANA, sentence));
    for (const each of [...words, 'Show it']) expect(answer).toContain(each);
    expect(answer).not.toContain('change.confirm');
  });

  test('can be scheduled, with a warning', async () => {
    const sandbox = await started();
    const text = await answered(sandbox, '/service start staging in=2h', 'Start staging?');
    expect(text).toContain('Running now: the start has no effect if it still runs by then');
  });

  test('is requested in contract mode', async () => {
    const sandbox = await started({ yaml: (file) => file });
    expect(await answered(sandbox, '/service stop archive', 'Stop archive?')).toContain('Approval');
  });
});

describe('a failed read', () => {
  test.for<[string, string]>([
    ['read-404', 'the server does not find it'],
    ['403', 'the API key has no permission to read it (403)'],
    ['read-405', 'the server does not have this read (405)'],
    ['read-424', 'the server does not return it while the service does not run'],
    ['read-wrong-shape', 'Current state unknown: '],
    ['504', 'Current state unknown: '],
  ])('with %s leaves the command usable and says why', async ([fault, why]) => {
    const sandbox = await started();
    // All attempts of one read.
    sandbox.cloud.injectFault({ operation: 'get service', fault, times: 9 });
    const text = await answered(sandbox, '/service stop staging', 'Stop staging?');
    expect(text).toContain('Current state unknown: ');
    expect(text).toContain(why);
    expect(text).toContain('never seen');
  });

  test('that gets no answer is dropped after 10 s', async () => {
    const sandbox = await started();
    sandbox.cloud.injectFault({ operation: 'get service', fault: 'hang', times: 9 });
    await sandbox.slack.command(ANA, 'ops', '/service stop staging');
    const texts = () => {
      sandbox.elapse(10_000);
      return sandbox.slack.clientState(ANA).messages.map(textOf).join('\n');
    };
    await expect.poll(texts).toContain('Current state unknown: ');
  });

  test('of the other services leaves the general warning', async () => {
    const sandbox = await started();
    sandbox.cloud.setKey(CLOUD_KEY.id, { denied: ['list services'] });
    const text = await answered(sandbox, '/service stop lab-core', 'Stop lab-core?');
    expect(text).toContain(CHECKED);
    expect(text).toContain('Secondaries of its warehouse unknown: the API key has no permission');
    expect(text).toContain('the server rejects the stop while secondaries run.');
  });

  test('of the schedule on an older server leaves the preview usable', async () => {
    const sandbox = await started();
    sandbox.cloud.behave({ serviceGeneration: 2, absentReads: { 'scaling schedule': 404 } });
    const line = '/service scale staging min=16 max=32';
    const text = await answered(sandbox, line, 'Scale staging?');
    expect(text).toContain('Scaling schedule unknown: the server does not have this read (404)');
    expect(text).toContain('Minimum memory per replica (GB)  8 → 16');
  });
});

describe('right before sending', () => {
  test('a stop of a service that someone stopped is not sent, and can be requested again', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service stop staging for the night');
    sandbox.cloud.setServiceState(STAGING, 'stopped');
    await approve();
    const stale = await sandbox.cardLater('not run: the target changed since the preview');
    expect(stale?.text).toContain('State  was running, is now stopped');
    expect(buttonsOf(stale)).toContain('change.request-again');
    expect(sandbox.cloud.count('set state')).toBe(0);

    sandbox.cloud.setServiceState(STAGING, 'running');
    sandbox.pass(11);
    await sandbox.press(FINN, stale, 'change.request-again');
    const again = await sandbox.privateMessage(FINN, 'Stop staging?');
    expect(again?.text).toContain('for the night');
  });

  test.for<[string, Parameters<Sandbox['cloud']['setServiceState']>[1]]>([
    ['became idle', 'idle'],
    ['is degraded', 'degraded'],
  ])('a stop is sent although its service %s', async ([, state]) => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service stop staging for the night');
    sandbox.cloud.setServiceState(STAGING, state);
    await approve();
    await sandbox.cardLater('staging is stopping');
  });

  test('a scale is not sent if a size that it overwrites was changed in the console', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service scale staging max=64');
    sandbox.cloud.scaleInConsole(STAGING, { minReplicaMemoryGb: 16 }, 'a person');
    await approve();
    const stale = await sandbox.cardLater('not run: the target changed since the preview');
    expect(stale?.text).toContain('Memory per replica  was 8–32 GB, is now 16–32 GB');
    expect(sandbox.cloud.count('scale')).toBe(0);
  });

  test('a scale is sent if only other sizes changed', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service scale staging max=64');
    sandbox.cloud.scaleInConsole(STAGING, { numReplicas: 3, idleTimeoutMinutes: 30 }, 'a person');
    await approve();
    await sandbox.cardLater('staging is scaling');
  });

  test('the card names the later change that explains the difference', async () => {
    const sandbox = await started();
    const first = await approved(sandbox, '/service scale staging max=64');
    const preview = await sandbox.ask(
      FINN,
      '/service scale staging min=16 max=48',
      'Scale staging?',
    );
    await sandbox.press(FINN, preview, 'change.confirm');
    const second = await sandbox.card(`<@${FINN}> requests: `);
    sandbox.pass(11);
    await sandbox.press(BEN, second, 'change.approve');
    await sandbox.cardLater('staging is scaling');
    await first.approve();
    const stale = await sandbox.cardLater('not run: the target changed since the preview');
    expect(stale?.text).toMatch(
      new RegExp(`was 8–32 GB, is now 16–48 GB \\(<@${FINN}>, .*, [0-9A-Z]{6}\\)`),
    );
  });

  test('a read that fails is repeated for two minutes, then the change is sent unverified', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service stop staging for the night');
    const reads = sandbox.cloud.count('get service');
    const before = sandbox.clock.now.getTime();
    sandbox.cloud.injectFault({ operation: 'get service', fault: '504', times: 999 });
    await approve();
    const sent = await sandbox.cardLater('staging is stopping');
    expect(sent?.text).toContain('State not verified before sending: ');
    expect(sandbox.clock.now.getTime() - before).toBeGreaterThanOrEqual(120_000);
    expect(sandbox.cloud.count('get service') - reads).toBeGreaterThan(3);
    expect(sandbox.cloud.effectCount('set state', STAGING)).toBe(1);
  });

  test('a read that works again within two minutes is verified', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service stop staging for the night');
    sandbox.cloud.injectFault({ operation: 'get service', fault: '504', times: 4 });
    await approve();
    const sent = await sandbox.cardLater('staging is stopping');
    expect(sent?.text).not.toContain('not verified');
  });

  test('a conflict after which the service is as it was is a failure, not an unknown outcome', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service stop staging for the night');
    sandbox.cloud.setServiceState(STAGING, 'starting');
    await approve();
    const card = await sandbox.cardLater('Stop staging: rejected by the server');
    expect(card?.text).toContain('409');
    expect(card?.text).toContain('Nothing was changed.');
    // Nothing is locked.
    sandbox.cloud.setServiceState(STAGING, 'running');
    const again = await sandbox.ask(ANA, '/service stop staging again', 'Stop staging?');
    expect(again?.text).not.toContain('outcome unknown');
  });

  test('after a change to contract mode nothing is read and nothing waits', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service stop staging for the night');
    await sandbox.reload((file) => file);
    const reads = sandbox.cloud.count('get service');
    const before = sandbox.clock.now.getTime();
    await approve();
    const sent = await sandbox.cardLater('staging is stopping');
    expect(sent?.text).toContain('State not verified before sending: ');
    expect(sandbox.cloud.count('get service')).toBe(reads);
    expect(sandbox.clock.now.getTime() - before).toBeLessThan(120_000);
  });
});

describe('undo and for=', () => {
  test.for<[string, string, string]>([
    [
      'memory',
      '/service scale staging min=16 max=64',
      '{"minReplicaMemoryGb":8,"maxReplicaMemoryGb":32}',
    ],
    [
      'a range of replicas',
      '/service scale ml-features min=32 max=32',
      '{"minReplicaMemoryGb":16,"maxReplicaMemoryGb":16}',
    ],
    ['idling', '/service scale staging idle=off', '{"idleScaling":true,"idleTimeoutMinutes":15}'],
    ['no idling', '/service scale lab-core idle=on idle-timeout=5', '{"idleScaling":false}'],
  ])('restore the values before a scale of %s', async ([, line, body]) => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, line);
    await approve();
    const sent = await sandbox.cardLater(' is scaling');
    sandbox.pass(90);
    await sandbox.press(ANA, sent, 'change.undo');
    const preview = await sandbox.privateMessage(ANA, 'undo of');
    await sandbox.press(ANA, preview, 'change.details');
    await sandbox.privateMessage(ANA, `Sends  PATCH replicaScaling ${body}`);
  });

  test('for= reverts the first scale of a service', async () => {
    const sandbox = await started();
    const { approve } = await approved(sandbox, '/service scale staging max=64 for=2h');
    await approve();
    await sandbox.cardLater('staging is scaling');
    await sandbox.cardLater('Scale staging: planned');
    sandbox.pass(2 * 3_600);
    const pass = timeInSteps(sandbox, 1_000);
    await expect
      .poll(() => {
        pass();
        return sandbox.cloud.effectCount('scale', STAGING);
      })
      .toBe(2);
    expect(sandbox.cloud.service(STAGING)?.scaling.maxReplicaMemoryGb).toBe(32);
  });

  test('a revert is not sent if the size was changed in the console meanwhile', async () => {
    const sandbox = await started();
    // The reply to the read right after the change can still have the previous size.
    const { approve } = await approved(sandbox, '/service scale staging max=64 for=2h');
    await approve();
    await sandbox.cardLater('Scale staging: planned');
    sandbox.cloud.scaleInConsole(STAGING, { maxReplicaMemoryGb: 128 }, 'a person');
    sandbox.pass(2 * 3_600);
    const stale = await sandbox.cardLater('not run: the target changed since the preview');
    expect(stale?.text).toContain('was 8–64 GB, is now 8–128 GB');
    expect(sandbox.cloud.effectCount('scale', STAGING)).toBe(1);
  });

  test('a fixed number of replicas is refused where the server scales it', async () => {
    const sandbox = await started();
    const line = '/service scale ml-features replicas=3';
    await sandbox.slack.command(ANA, 'ops', line);
    await sandbox.modal(ANA, 'service.scale');
    const form = JSON.stringify(sandbox.slack.clientState(ANA).views.at(-1));
    expect(form).toContain('cannot be set: this service scales its number of replicas');
  });
});
