import type { RandomSource } from '../../sandbox/api/random.ts';
import { ALERTS } from '../../sandbox/seed/alerts.ts';
import { oneOf } from './faults.ts';
import { SHARDS } from './organization.ts';
import { because, seen, type Tally, type UserActions } from './user-actions.ts';

const ANSWERED_WITHIN_MS = 45_000;
const OPENS_WITHIN_MS = 10_000;

const LINES: readonly (readonly [string, (chance: RandomSource) => string])[] = [
  ['service list', () => '/service list'],
  ['service show', (chance) => `/service show ${oneOf(chance, SHARDS).name}`],
  ['cost', (chance) => oneOf(chance, ['/cost', '/cost last-week by service', '/cost by day'])],
  ['alert list', () => '/alert list'],
  ['alert show', (chance) => `/alert show ${oneOf(chance, ALERTS).id}`],
  ['pipe settings', () => '/pipe settings analytics-prod orders'],
  ['change list', () => '/change list'],
  ['change log', (chance) => `/change log on=${oneOf(chance, SHARDS).name}`],
  ['nonsense', (chance) => `/service stup ${oneOf(chance, SHARDS).name}`],
];

/** Somebody asks something, and waits for an answer: whatever it says, there must be one. */
export async function question(hands: UserActions, tally: Tally, as: string, chance: RandomSource) {
  const [what, line] = oneOf(chance, LINES);
  const before = hands.privately(as).length;
  if (!(await hands.type(what, as, line(chance)))) return;
  const came = () => (hands.privately(as).length > before ? true : undefined);
  if (!(await seen(came, ANSWERED_WITHIN_MS))) tally.unanswered.push(what);
}

/** Somebody opens a form, chooses a service in it, sends it off, and leaves the preview be. */
export async function form(hands: UserActions, tally: Tally, as: string, chance: RandomSource) {
  if (!(await hands.type('form', as, '/service stop'))) return;
  const view = await seen(() => hands.formOf(as), OPENS_WITHIN_MS);
  if (!view) return void tally.unanswered.push('the form of /service stop');
  const place = { in: 'view', viewId: view.id } as const;
  const field = { blockId: 'service', actionId: 'service' };
  const name = oneOf(chance, SHARDS).name;
  const { options } = await hands.suggest({ as, place, ...field, value: name });
  const [option] = options;
  const service = { service: { type: 'external_select', selected_option: option } };
  if (option) await hands.fillIn(as, view.id, { service, ...because('by form') });
  const left = hands.formOf(as);
  if (left) await hands.closeForm(as, left.id);
}
