import { z } from 'zod';
import { nearest, ownValue } from '../base/text.ts';
import {
  type Answer,
  type Caller,
  countWords,
  type InlinePart,
  textAnswer,
} from '../domain/answer.ts';
import { isChangeId, isPrivate, targetKey } from '../domain/change.ts';
import { serviceTarget } from '../domain/targets.ts';
import { STATE_WORDS, wordOf } from '../domain/words.ts';
import { type ChangeQuery, countChanges, listChanges, loadChange } from '../log/index.ts';
import { choiceField, Details, type FieldContext, ServiceName, textField } from './arguments.ts';
import {
  daysPhrase,
  historyLines,
  instantOf,
  namePhrase,
  pastField,
  personField,
  personOf,
  requestLine,
  stateField,
  storyLines,
} from './change-log.ts';
import {
  type CommandContext,
  type Phrase,
  type PhraseState,
  queryCommand,
  type ResolvedValues,
} from './define.ts';

/** How each list is titled, its button, and what is said when it is empty. */
const LISTS = {
  pending: {
    ...{ title: 'waiting for approval', label: 'Waiting' },
    none: 'No changes are waiting for approval.',
  },
  mine: { title: 'requested by you', label: 'Yours', none: 'You have requested no changes.' },
  all: { title: 'in total', label: 'All', none: 'There are no changes.' },
  review: {
    ...{ title: 'with break-glass, not yet reviewed', label: null },
    none: 'No emergency change needs a review.',
  },
  standing: {
    ...{ title: 'allowed in advance', label: null },
    none: 'No standing approval is in force.',
  },
} as const;

export const CHANGE_LISTS = Object.keys(LISTS) as [Which, ...Which[]];
type Which = keyof typeof LISTS;

const ListArgs = z.strictObject({
  which: choiceField(z.enum(CHANGE_LISTS), () => CHANGE_LISTS, { label: 'List' }),
  service: ServiceName.optional().meta({ ...ServiceName.meta(), word: 'service' }),
  by: personField('Requested by'),
  state: stateField('State'),
  since: pastField('since', 'Requested since', '7d, 4h', ['from', 'after']),
  before: textField(z.string().max(40), {
    word: 'before',
    label: 'Requested before',
    hint: 'A change id',
  }),
});

export const changeList = queryCommand({
  name: 'change list',
  program: 'read',
  title: 'List changes',
  summary: 'List changes by approval, person, service, state or time',
  examples: ['change list', 'change list mine', 'change list service=staging since=yesterday'],
  args: ListArgs,
  phrase: listPhrase,
  // The list itself decides them: `mine` is one person, `pending` one state.
  hasField: (field, { given: { which } }: FieldContext) =>
    !(field === 'by' && which === 'mine') && !(field === 'state' && which === 'pending'),

  target: () => null,
  answer: answerChangeList,
});

/** A service without its key, the lists as people call them, and days. */
function listPhrase(words: readonly string[], so: PhraseState): Phrase | null {
  const which = ownValue(LIST_WORDS, words[0]?.toLowerCase() ?? '');
  if (which && so.given.which === undefined) return { taken: 1, given: { which } };
  const named = namePhrase('service', words, so) ?? daysPhrase(words, so);
  const { until, ...given } = named?.given ?? {};
  if (!named || until === undefined) return named;
  const readings = [{ label: `since=${given.since}`, given }];
  return { taken: named.taken, choice: { why: `This list has no “until=${until}”.`, readings } };
}

const LIST_WORDS: Readonly<Record<string, string>> = {
  ...{ my: 'mine', own: 'mine', me: 'mine', everything: 'all' },
  ...{ waiting: 'pending', open: 'pending', unapproved: 'pending' },
};

const PAGE = 20;
/** More changes are not counted. */
const COUNTED_MAX = 1_000;

/** Without `which`: all changes with these filters, or `pending` without a filter. */
type ListRequest = Partial<ResolvedValues<typeof ListArgs>>;

/** Answers `/change list` with one page, newest first. */
export async function answerChangeList(
  request: ListRequest,
  { changes, now }: Pick<CommandContext, 'changes' | 'now'>,
  asker: Caller,
): Promise<Answer> {
  const who = await personOf(changes, request.by, asker);
  if ('title' in who) return who;
  const after =
    request.before === undefined ? null : await findChange(changes, request.before, asker);
  if (after && 'title' in after) return after;
  const { service, state, since } = request;
  const hasFilter = Boolean(service || request.by || state || since);
  const which = request.which ?? (hasFilter ? 'all' : 'pending');
  const requester = which === 'mine' ? asker.by : who.user;
  const plan = service && { target: serviceTarget(service) };
  const query: ChangeQuery = {
    ...(which === 'pending' && { states: ['pending'] }),
    ...(which === 'review' && { toReview: true }),
    ...(state ? { states: [state], privateTo: asker.by } : { confirmed: true }),
    ...(requester && { requester }),
    ...(plan && { targets: [targetKey({ organization: changes.organization, plan })] }),
    ...(since && { since: instantOf(since, now()) }),
    ...(after && { before: after }),
  };
  const standing = which === 'standing' ? await changes.standing() : null;
  const shown =
    standing?.slice(0, PAGE) ?? (await listChanges(changes.events, { ...query, limit: PAGE }));
  const count = standing?.length ?? (await countChanges(changes.events, query));
  const left = count > COUNTED_MAX ? count : count - shown.length;
  const older = { ...request, which, before: shown.at(-1)?.id };
  const isNamed = which !== 'all' || !hasFilter || who.user === asker.by;
  const named = isNamed ? ` ${LISTS[who.user === asker.by ? 'mine' : which].title}` : '';
  const filters = [
    count === 0 ? 'Changes' : `${countText(count, 'change')}${named}`,
    ...(service ? [service.name] : []),
    ...(state ? [STATE_WORDS[state]] : []),
    ...(since ? [`since ${since}`] : []),
  ];
  return {
    title: `${filters.join(' · ')}${after ? ` before ${request.before}` : ''}`,
    parts: [
      ...(who.user && who.user !== asker.by
        ? [{ kind: 'lines', lines: [['Requested by ', { user: who.user }]] } as const]
        : []),
      shown.length > 0
        ? { kind: 'changes', changes: shown }
        : { kind: 'text', text: hasFilter ? 'No matching changes.' : LISTS[which].none },
      {
        kind: 'offers',
        offers: [
          ...(left > 0 && shown.length > 0
            ? [{ label: 'Older', line: requestLine(changeList, older) }]
            : []),
          ...Object.entries(LISTS).flatMap(([other, { label }]) =>
            label && other !== which ? [{ label, line: `change list ${other}` }] : [],
          ),
        ],
      },
      ...(left > 0
        ? [{ kind: 'note', text: `${countText(left, 'older change')} not shown.` } as const]
        : []),
    ],
  };
}

function countText(count: number, noun: string): string {
  return count > COUNTED_MAX ? `More than 1,000 ${noun}s` : countWords(count, noun);
}

const Id = z.string().min(1).max(40).meta({ label: 'Change id', reads: changeIdText });

export const changeShow = queryCommand({
  name: 'change show',
  program: 'read',
  title: 'Look up a change',
  summary: 'Show one change: its card, its history and your buttons',
  examples: ['change show 7KQ2MX', 'change show 7KQ2MX details'],
  args: z.strictObject({ id: Id, details: Details }),

  answer: async ({ id, details }, { changes }, asker) => {
    const found = await findChange(changes, id, asker);
    if ('title' in found) return found;
    const isDetailed = details !== undefined;
    const { change, hidden, effect, next } = await changes.shown(found, asker);
    const lines = await (isDetailed ? historyLines : storyLines)(changes.events, change.id);
    const { state, followUp } = change;
    const seen = state === 'succeeded' ? followUp?.seen : null;
    const now: readonly (readonly InlinePart[])[] = [
      // Once the target was read after the send.
      ...(seen ? [[{ at: seen.at }, `  The server shows: ${wordOf(seen.text)}`]] : []),
      ...(next ? [[{ at: next.at }, `  Next run: ${next.action}`]] : []),
    ];
    const more = { label: 'Details', line: `change show ${change.id} details` };
    return {
      title: isDetailed ? 'Evidence' : 'History',
      change: { change, hidden },
      parts: [
        { kind: 'lines', lines: [...lines.slice(-LINES_MAX), ...(isDetailed ? [] : now)] },
        ...(effect === null ? [] : [{ kind: 'text', text: effect } as const]),
        ...(isDetailed ? [] : [{ kind: 'offers', offers: [more] } as const]),
      ],
    };
  },
});

const LINES_MAX = 60;

export const changeCancel = queryCommand({
  name: 'change cancel',
  program: 'none',
  title: 'Cancel a change',
  summary: 'Cancel a change that you requested, before it runs',
  examples: ['change cancel 7KQ2MX'],
  args: z.strictObject({ id: Id }),

  submit: () => 'Cancel change',
  acts: () => true,
  answer: async ({ id }, { changes }, asker) => {
    const found = await findChange(changes, id, asker);
    return 'title' in found ? found : changes.cancel(found, asker);
  },
});

/** Returns the change with this id, or an answer that offers similar ids. */
async function findChange({ events }: CommandContext['changes'], typed: string, { by }: Caller) {
  const id = changeIdText(typed);
  const change = isChangeId(id) ? await loadChange(events, id) : null;
  if (change && (!isPrivate(change) || change.requester === by)) return change;
  const recent = await listChanges(events, { limit: COMPARED, privateTo: by });
  const ids = recent.map((each) => each.id);
  const near = nearest(id, ids, OFFERED);
  const own = await listChanges(events, { requester: by, limit: OFFERED });
  const offered = near.length > 0 ? recent.filter((each) => near.includes(each.id)) : own;
  const hint = near.length > 0 ? 'Did you mean one of these?' : 'Your newest requests are below.';
  const text = `There's no change “${id}”. ${offered.length > 0 ? hint : 'You have no requests.'}`;
  const offers = offered.map(({ id: other, command, plan }) => ({
    label: `${other}: ${command} ${plan.target.name}`,
    line: `change show ${other}`,
  }));
  return textAnswer('Change not found', text, offers);
}

const COMPARED = 300;
const OFFERED = 3;

/** Normalises a typed change id: `#k3m9qd,` → `K3M9QD`. People type ids on phones. */
function changeIdText(typed: string): string {
  return typed
    .trim()
    .replace(/^#|[.,;]$/g, '')
    .toUpperCase();
}
