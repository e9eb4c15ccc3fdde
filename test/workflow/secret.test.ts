import { pino } from 'pino';
import { expect, test } from 'vitest';
import { Secret } from '../../src/base/errors.ts';
import type { Change } from '../../src/domain/change.ts';
import { openLog, readKeys } from '../../src/log/index.ts';
import { sql, transaction } from '../../src/storage/index.ts';
import type { WorkflowContext } from '../../src/workflow/context.ts';
import {
  dropExpiredSecrets,
  resealSecrets,
  revealPassword,
  storeSecret,
} from '../../src/workflow/secret.ts';
import { listSealed, replaceSealed, saveSealed } from '../../src/workflow/store.ts';
import { aChange, ana, ben, createTestContext, eventsOf, minutes, PLAN } from './context.ts';

const PASSWORD = 'Pässword 🔑';

/** A created service of this requester. */
function created(context: WorkflowContext, requester = ana): Promise<Change> {
  return aChange(context, {
    ...{ command: 'service create', state: 'succeeded', requester },
    plan: { target: { ...PLAN.target, kind: 'new service' } },
  });
}

function sealedFor(context: WorkflowContext, change: Change): Promise<void> {
  return transaction(context.store, (tx) => storeSecret(tx, context, change, new Secret(PASSWORD)));
}

async function sealedText(context: WorkflowContext, { id }: Change): Promise<string> {
  const all = await transaction(context.store, listSealed);
  return all.find((each) => each.id === id)?.sealed ?? '';
}

/** What a user reads; null: nothing. `shown`: whether Slack confirms that it showed it. */
async function opened(context: WorkflowContext, { id }: Change, by = ana, shown = false) {
  const read: string[] = [];
  const show = async (password: Secret) => {
    read.push(password.reveal());
    return shown;
  };
  const ended = await revealPassword(context, { id, by }, show);
  expect(ended).toBe(read.length === 0 ? 'none' : shown ? 'shown' : 'not-shown');
  return read[0] ?? null;
}

async function sealedCreation() {
  const test = await createTestContext();
  const change = await created(test.context);
  await sealedFor(test.context, change);
  return {
    ...test,
    change,
    open: (by = ana, shown = false) => opened(test.context, change, by, shown),
  };
}

test('the password of a created service opens for its requester', async () => {
  const { context, change, open } = await sealedCreation();
  expect(await open()).toBe(PASSWORD);
  // A repeated attempt to store the outcome stores it once.
  await sealedFor(context, change);
  expect(await open()).toBe(PASSWORD);
  expect(await sealedText(context, change)).not.toContain(PASSWORD);
});

test('a password does not open for a requester who was put into the row by an UPDATE', async () => {
  const { context, open } = await sealedCreation();
  await transaction(context.store, async (tx) => {
    await sql`update sealed_secret set requester = ${ben}`.execute(tx);
    await sql`update change_view set requester = ${ben}`.execute(tx);
  });
  expect(await open(ben)).toBeNull();
});

test('a sealed password that was copied to another change does not open, and that is logged', async () => {
  const logged: unknown[] = [];
  const write = (line: string) => {
    const { change, user, msg } = JSON.parse(line);
    logged.push({ change, user, msg });
  };
  const { context } = await createTestContext({ log: pino({ level: 'error' }, { write }) });
  const [own, other] = [await created(context, ben), await created(context)];
  await sealedFor(context, other);
  const sealed = await sealedText(context, other);
  await transaction(context.store, (tx) =>
    saveSealed(tx, { id: own.id, requester: ben, sealed }, minutes(60)),
  );
  expect(await opened(context, own, ben)).toBeNull();
  const msg = 'password stays sealed: it is of another user or key';
  expect(logged).toEqual([{ change: own.id, user: ben, msg }]);
});

test('a password opens for 24 hours, and for its requester alone', async () => {
  const { context, clock, change, open } = await sealedCreation();
  expect(await open(ben)).toBeNull();
  clock.now = new Date(minutes(24 * 60).getTime() - 1);
  await dropExpiredSecrets(context);
  expect(await open()).toBe(PASSWORD);
  clock.now = minutes(24 * 60);
  expect(await open()).toBeNull();
  await dropExpiredSecrets(context);
  expect(await sealedText(context, change)).toBe('');
});

test('a password stays stored until it was shown, and is shown once', async () => {
  const { context, change, open } = await sealedCreation();
  expect(await open()).toBe(PASSWORD);
  // Of two modals that were opened at once, the first counts.
  const show = async () => {
    expect(await open(ana, true)).toBe(PASSWORD);
    return true;
  };
  await revealPassword(context, { id: change.id, by: ana }, show);
  expect(await open()).toBeNull();
  const reveals = (await eventsOf(context, `change/${change.id}`)).flatMap((event) =>
    event.type === 'revealed' ? [[event.by, event.shown]] : [],
  );
  expect(reveals).toEqual([null, false, null, null, true].map((shown) => [ana, shown]));
});

test('a password that was shown stays closed, also where it could not be deleted', async () => {
  const { context, change, open } = await sealedCreation();
  await open(ana, true);
  await sealedFor(context, change);
  expect(await open()).toBeNull();
});

test('stored passwords are sealed again with the current key, if a key opens them', async () => {
  const { context, change, open } = await sealedCreation();
  const other = await created(context);
  await sealedFor(context, other);
  await transaction(context.store, (tx) => replaceSealed(tx, other.id, 'AAAA.AAAA'));
  const before = await sealedText(context, change);
  await resealSecrets(context.store, context.events.keys);
  expect(await sealedText(context, change)).toBe(before);

  const keyOf = (fill: number) => new Secret(Buffer.alloc(32, fill).toString('base64'));
  const databaseUrl = 'file::memory:';
  const keys = readKeys({ databaseUrl, key: keyOf(2), previous: [keyOf(1)] });
  await resealSecrets(context.store, keys);
  expect(await sealedText(context, change)).not.toBe(before);
  expect(await sealedText(context, other)).toBe('AAAA.AAAA');
  expect(await open()).toBeNull();
  const alone = readKeys({ databaseUrl, key: keyOf(2), previous: [] });
  const events = await openLog(context.store, keys);
  const renewed = { ...context, events: { ...events, keys: alone } };
  expect(await opened(renewed, change)).toBe(PASSWORD);
});
