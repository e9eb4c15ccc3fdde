import { type ListRequest, STATE_WORDS } from '../../commands/index.ts';
import {
  type Answer,
  type AnswerPart,
  type Caller,
  type CommandOffer,
  countWords,
  unreadableText,
} from '../../domain/answer.ts';
import { type Change, type ChangeId, targetKey, type UserId } from '../../domain/change.ts';
import { serviceTarget } from '../../domain/targets.ts';
import {
  type ChangeFilter,
  COUNTED_MAX,
  countChanges,
  listChanges,
} from '../../log/old/change-lists.ts';
import { findChange } from './find-change.ts';
import { filterWords, instantOf, pastText } from './log-request.ts';
import { type PersonSearch, personOf } from './person-filter.ts';
import type { DecisionContext } from './ports.ts';

const PAGE = 20;

type ListContext = DecisionContext & PersonSearch;
type ListFilter = Omit<ChangeFilter, 'limit' | 'before'>;
type Which = NonNullable<ListRequest['which']>;

/** Answers `/change list` with one page, newest first. */
export async function answerChangeList(
  context: ListContext,
  request: ListRequest,
  asker: Caller,
): Promise<Answer> {
  const who = request.by === null ? null : await personOf(context, request.by, asker);
  if (who && 'title' in who) return who;
  const { before } = request;
  const after = before === null ? null : await findChange(context, before, asker);
  if (after && !after.ok) return after.answer;
  const filter = filterOf(request, { by: who?.user ?? null, asker: asker.by, now: context.now() });
  const found = await readPage(context, filter, after?.change ?? null);
  const drafts = await countHiddenDrafts(context, request, asker);
  const page = { request, person: who?.user ?? null, drafts, ...found };
  return { title: titleOf(page, asker), parts: partsOf(page, asker) };
}

interface Page {
  readonly request: ListRequest;
  /** The user that `by=` names. */
  readonly person: UserId | null;
  /** The asker's drafts, where the list leaves them out. */
  readonly drafts: number;
  readonly shown: readonly Change[];
  /** The number of changes on this and all older pages. */
  readonly count: number;
  readonly unreadable: readonly ChangeId[];
}

async function readPage(
  { database: { db }, log }: ListContext,
  filter: ListFilter,
  after: Change | null,
): Promise<Pick<Page, 'shown' | 'count' | 'unreadable'>> {
  const unreadable: ChangeId[] = [];
  const cursor = after ? { before: after } : {};
  const [count, shown] = await Promise.all([
    countChanges(db, { ...filter, ...cursor }),
    listChanges(db, { ...filter, ...cursor, limit: PAGE }, (id, err) => {
      unreadable.push(id);
      log.error({ err, change: id }, 'change is not readable and is not shown');
    }),
  ]);
  return { shown, count, unreadable };
}

function whichOf({ which, service, by, state, since }: ListRequest): Which {
  if (which) return which;
  return service || by || state || since ? 'all' : 'pending';
}

function filterOf(
  request: ListRequest,
  { by, asker, now }: { by: UserId | null; asker: UserId; now: Date },
): ListFilter {
  const { service, state, since } = request;
  const which = whichOf(request);
  const requester = which === 'mine' ? asker : by;
  return {
    ...(which === 'pending' ? { states: ['pending'] } : {}),
    ...(which === 'review' ? { toReview: true } : {}),
    ...(state ? { states: [state], privateTo: asker } : { confirmed: true }),
    ...(requester ? { requester } : {}),
    ...(service ? { targets: [targetKey(serviceTarget(service))] } : {}),
    ...(since ? { since: instantOf(since, now) } : {}),
  };
}

/** The drafts of the asker that the list of their own changes leaves out. */
async function countHiddenDrafts(
  { database: { db } }: ListContext,
  request: ListRequest,
  { by: requester }: Caller,
): Promise<number> {
  if (request.which !== 'mine' || request.state || request.before) return 0;
  return countChanges(db, { states: ['draft'], requester });
}

const TITLES: Readonly<Record<Which, string>> = {
  pending: 'waiting for approval',
  mine: 'requested by you',
  all: 'in total',
  review: 'with break-glass, not yet reviewed',
};

function titleOf({ request, person, count }: Page, asker: Caller): string {
  const { service, state, since, before } = request;
  const filters = [
    ...(service ? [service.name] : []),
    ...(state ? [STATE_WORDS[state]] : []),
    ...(since ? [`since ${pastText(since)}`] : []),
  ];
  const which = person === asker.by ? 'mine' : whichOf(request);
  const isFiltered = filters.length > 0 || person !== null;
  const kind = which === 'all' && isFiltered ? [] : [TITLES[which]];
  const words = count === 0 ? ['Changes'] : [countText(count, 'change'), ...kind];
  return `${[words.join(' '), ...filters].join(' · ')}${before === null ? '' : ` before ${before}`}`;
}

function countText(count: number, noun: string): string {
  return count > COUNTED_MAX ? `More than 1,000 ${noun}s` : countWords(count, noun);
}

function partsOf(page: Page, asker: Caller): readonly AnswerPart[] {
  const { request, person, shown, count, drafts, unreadable } = page;
  const left = count > COUNTED_MAX ? count : count - shown.length - unreadable.length;
  const notes = [
    ...(left > 0 ? [`${countText(left, 'older change')} not shown.`] : []),
    ...(drafts > 0 ? [`${countText(drafts, 'draft')} not shown.`] : []),
    ...(unreadable.length > 0 ? [unreadableText(unreadable)] : []),
  ];
  return [
    ...(person !== null && person !== asker.by ? [requestedBy(person)] : []),
    shown.length > 0
      ? { kind: 'changes', changes: shown }
      : { kind: 'text', text: nothingText(request) },
    { kind: 'offers', offers: offersFor(page, left) },
    ...notes.map((text): AnswerPart => ({ kind: 'note', text })),
  ];
}

function requestedBy(user: UserId): AnswerPart {
  return { kind: 'lines', lines: [['Requested by ', { user }]] };
}

const NONE: Readonly<Record<Which, string>> = {
  pending: 'No changes are waiting for approval.',
  mine: 'You have requested no changes.',
  all: 'There are no changes.',
  review: 'No emergency change needs a review.',
};

function nothingText(request: ListRequest): string {
  const { service, by, state, since } = request;
  return service || by || state || since ? 'No matching changes.' : NONE[whichOf(request)];
}

const LISTS = [
  ['pending', 'Waiting'],
  ['mine', 'Yours'],
  ['all', 'All'],
] as const;

function offersFor({ request, shown, drafts }: Page, left: number): readonly CommandOffer[] {
  const last = shown.at(-1);
  const others = LISTS.filter(([which]) => which !== whichOf(request));
  return [
    ...(left > 0 && last ? [{ label: 'Older', line: olderLine(request, last.id) }] : []),
    ...(drafts > 0 ? [{ label: 'Your drafts', line: 'change list mine state=draft' }] : []),
    ...others.map(([which, label]) => ({ label, line: `change list ${which}` })),
  ];
}

function olderLine(request: ListRequest, before: ChangeId): string {
  const { service, by, state } = request;
  const since = pastText(request.since);
  const filters = filterWords({ service: service?.id ?? null, by, state, since, before });
  return ['change list', whichOf(request), ...filters].join(' ');
}
