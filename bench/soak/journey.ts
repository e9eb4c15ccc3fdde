import type { RandomSource } from '../../sandbox/api/random.ts';
import type { StoredMessage } from '../../sandbox/slack/records.ts';
import { oneOf } from './faults.ts';
import { APPROVERS, type Shard } from './organization.ts';
import type { SoakSandbox } from './soak-sandbox.ts';
import { because, changeBehind, seen, type Tally, type UserActions } from './user-actions.ts';

const PREVIEW_WITHIN_MS = 45_000;
const CARD_WITHIN_MS = 60_000;
const PRESSED_AGAIN_AFTER_MS = 5_000;
/** A server that never answers is given up after a minute, and the card may come late besides. */
const ENDS_WITHIN_MS = 150_000;
const OPENS_WITHIN_MS = 10_000;

const WAITS = / requests: /;
const GOES_ON = / requests: |: (approved|running)/;
const IN_DOUBT = /nobody knows/;

interface Around {
  readonly sandbox: SoakSandbox;
  readonly hands: UserActions;
  readonly tally: Tally;
  readonly chance: RandomSource;
}

interface Wish {
  readonly line: string;
  readonly operation: string;
}

/** What really changes something, so that the server counts one effect for each that it accepts. */
function wishFor(sandbox: SoakSandbox, { id, name }: Shard, chance: RandomSource): Wish {
  const verb = VERBS[sandbox.cloud.service(id)?.state ?? ''];
  if (verb && chance() < 0.6) {
    return { line: `/service ${verb} ${name} for the soak`, operation: 'set state' };
  }
  const min = oneOf(chance, [8, 16, 32]);
  return { line: `/service scale ${name} min=${min} max=64 for the soak`, operation: 'scale' };
}

// In between it is on its way from one to the other.
const VERBS: Readonly<Record<string, string>> = { running: 'stop', idle: 'stop', stopped: 'start' };

/** One change from the words to its end. Says whether its service is free again. */
export async function journey(around: Around, by: string, shard: Shard): Promise<boolean> {
  const { sandbox, hands, tally, chance } = around;
  const { line, operation } = wishFor(sandbox, shard, chance);
  const effects = () => sandbox.cloud.effectCount(operation, shard.id);
  const before = effects();
  const told = hands.privately(by).length;
  if (!(await hands.type('change', by, line))) return true;
  const answer = await seen(() => hands.privately(by).slice(told).at(-1), PREVIEW_WITHIN_MS);
  if (!answer) tally.unanswered.push(line);
  const id = answer && changeBehind(answer, 'change.confirm');
  // It was refused, as it must be while Slack does not tell who somebody is.
  if (!answer || !id) return true;
  if (chance() < 0.15) return hands.press(by, answer, 'change.cancel').then(() => true);

  if (await hands.press(by, answer, 'change.confirm')) tally.confirmed.push(id);
  const card = await seen(() => hands.cardOf(id), CARD_WITHIN_MS);
  if (!card) return false;
  await decide(around, by, card);
  const ended = () => (GOES_ON.test(card.text) ? undefined : true);
  if (!(await seen(ended, ENDS_WITHIN_MS))) return false;
  if (IN_DOUBT.test(card.text)) return settle(around, card, effects() > before);
  return true;
}

/** Cards are drawn anew where they stand, so the same one is looked at all the time. */
async function decide({ hands, chance }: Around, by: string, card: StoredMessage): Promise<void> {
  const waits = () => (WAITS.test(card.text) ? undefined : true);
  if (chance() < 0.08) await hands.press(by, card, 'change.cancel');
  // Who asked may not approve, and hears so; that must not hold up the others.
  if (chance() < 0.2) await hands.press(by, card, 'change.approve');
  for (let time = 0; time < 8 && !waits(); time += 1) {
    const approver = oneOf(chance, APPROVERS);
    await hands.press(approver, card, 'change.approve');
    await seen(waits, chance() < 0.3 ? 0 : PRESSED_AGAIN_AFTER_MS / 5);
  }
}

/** Somebody looks at the service and says what they saw. */
async function settle({ hands, chance }: Around, card: StoredMessage, happened: boolean) {
  const actionId = happened ? 'change.happened' : 'change.did-not-happen';
  const settled = () => (IN_DOUBT.test(card.text) ? undefined : true);
  for (let time = 0; time < 5 && !settled(); time += 1) {
    const by = oneOf(chance, APPROVERS);
    const open = hands.formOf(by);
    if (open) await hands.closeForm(by, open.id);
    await hands.press(by, card, actionId);
    const view = await seen(() => hands.formOf(by), OPENS_WITHIN_MS);
    if (view) await hands.fillIn(by, view.id, because('the console says so'));
    await seen(settled, PRESSED_AGAIN_AFTER_MS);
  }
  return settled() === true;
}
