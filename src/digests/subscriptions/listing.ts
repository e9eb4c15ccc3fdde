import { DAYS } from '../../config/digest-options.ts';
import { labelOf } from '../../cost-reports/scope.ts';
import type { Answer, AnswerPart, Cell, ChannelLookup, CommandOffer } from '../../domain/answer.ts';
import { countWords } from '../../domain/answer.ts';
import { checkSchedule } from '../schedule.ts';
import { type DigestSubscription, digestName } from './subscriptions.ts';

interface ListContext {
  readonly rooms: ReadonlyMap<string, ChannelLookup>;
  readonly now: Date;
}

export function listAnswer(
  all: readonly DigestSubscription[],
  broken: readonly { readonly id: string; readonly problem: string }[],
  list: ListContext,
): Answer {
  const add: CommandOffer = { label: 'Add a digest', line: 'cost digest add' };
  const invalid = broken.map(({ id, problem }) => `Digest ${id} has invalid options: ${problem}.`);
  const parts: readonly AnswerPart[] = [
    ...(all.length > 0 ? [tableOf(all, list)] : [NONE]),
    ...(invalid.length > 0 ? [{ kind: 'text', text: invalid.join('\n') } as const] : []),
    { kind: 'offers', offers: [add] },
    {
      kind: 'menu',
      label: 'Manage a digest',
      offers: all.flatMap((one) => actionsFor(one, list)),
    },
  ];
  const title = countWords(all.length, 'cost digest');
  return { title, parts: parts.filter((part) => part.kind !== 'menu' || part.offers.length > 0) };
}

const NONE: AnswerPart = { kind: 'text', text: 'No cost digests yet.' };

function tableOf(all: readonly DigestSubscription[], list: ListContext): AnswerPart {
  return {
    kind: 'table',
    columns: ['Channel', 'When', 'What', 'Next', 'Id', 'Added by'],
    rows: all.map((one): readonly Cell[] => [
      nameOf(one, list),
      whenText(one),
      one.options.on ? labelOf(one.options.on) : 'everything',
      one.paused ? 'paused' : checkSchedule(one, list.now, null).next,
      one.id ?? '–',
      one.id === null ? 'signalbox.yaml' : 'command',
    ]),
  };
}

function nameOf({ channel }: DigestSubscription, { rooms }: ListContext): string {
  const found = rooms.get(channel);
  if (found?.ok !== true) return channel;
  return `#${found.room.name}${found.room.outside ? ' (shared, nothing is posted)' : ''}`;
}

function actionsFor(one: DigestSubscription, list: ListContext): readonly CommandOffer[] {
  const offer = (label: string, verb: string) => ({
    label: `${label}: ${nameOf(one, list)} (${one.id ?? one.options.period})`,
    line: `cost digest ${verb} ${digestName(one)}`,
  });
  const own = one.paused ? offer('Resume', 'resume') : offer('Pause', 'pause');
  const always = [offer('Preview', 'preview'), offer('Post now', 'now')];
  // A digest of signalbox.yaml is changed there.
  return one.id === null ? always : [...always, own, offer('Remove', 'remove')];
}

/** `Mon–Fri at 09:30 (Europe/Berlin)` */
export function whenText({ options }: Pick<DigestSubscription, 'options'>): string {
  const { period, days, at, timezone } = options;
  const when = period === 'month' ? 'once a month' : daysText(days);
  const week = period === 'week' ? ', for the week' : '';
  return `${when} at ${at} (${timezone})${week}`;
}

function capitalized(day: string): string {
  return `${day.charAt(0).toUpperCase()}${day.slice(1)}`;
}

function daysText(days: readonly (typeof DAYS)[number][]): string {
  if (days.length === DAYS.length) return 'every day';
  const isWeekdays = days.length === 5 && days.every((day) => !day.startsWith('s'));
  return isWeekdays ? 'Mon–Fri' : days.map(capitalized).join(', ');
}
