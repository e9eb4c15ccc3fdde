import { z } from 'zod';
import { timeOfDay } from '../base/moments.ts';
import { nearest } from '../base/text.ts';
import { DAY_WORDS, weeklyDaysText } from '../base/weekly-times.ts';
import {
  answerCosts,
  answerCsv,
  answerForecast,
  answerWhy,
  DIGEST_ACTIONS,
  digestWords,
} from '../costs/index.ts';
import type { Answer, Caller } from '../domain/answer.ts';
import { upperFirst } from '../domain/change.ts';
import { bodyOf } from '../servers/sent.ts';
import {
  channelField,
  choiceField,
  linesField,
  oneOf,
  switchField,
  textField,
  ZoneName,
} from './arguments.ts';
import { costWords } from './cost-words.ts';
import {
  type CommandContext,
  type Phrase,
  type PhraseState,
  type QueryCommand,
  queryCommand,
} from './define.ts';
import { weeklyWords } from './service-schedule.ts';

const Words = z.string().max(200, 'is too long: at most 200 characters');

interface Question
  extends Pick<QueryCommand, 'name' | 'title' | 'summary' | 'examples' | 'submit'> {
  /** Missing: `read`. */
  readonly program?: QueryCommand['program'];
  readonly label?: string;
  readonly ask: (words: string, context: CommandContext, asker: Caller) => Promise<Answer>;
}

/** A question in words. */
function question({ label = 'Question', ask, ...about }: Question): QueryCommand {
  return queryCommand({
    program: 'read',
    peopleOnly: ['refresh', 'share'],
    ...about,
    permission: 'organization:view',
    args: z.strictObject({ words: textField(Words, { label, rest: true }) }),
    reword: (words, vocabulary) => costWords(about.name, words, vocabulary),
    acts: ({ words = '' }) => /\bshare\b/i.test(words),
    answer: ({ words = '' }, context, asker) => ask(words, context, asker),
  });
}

export const cost = question({
  name: 'cost',
  title: 'Look up costs',
  summary: 'Show costs by period, service, metric or team',
  examples: [
    'cost mtd by metric',
    'cost last-month by day',
    'cost last-week by team vs prev',
    'cost mtd refresh',
  ],
  ask: answerCosts,
});

export const costCsv = question({
  name: 'cost csv',
  // Its answer is a file for people.
  program: 'none',
  title: 'Get costs as a file',
  summary: 'Get the rows of a period as a CSV file',
  examples: ['cost csv last-month'],
  submit: () => 'Get file',
  ask: answerCsv,
});

export const costForecast = question({
  name: 'cost forecast',
  title: 'Forecast costs',
  summary: 'Show the expected costs of a month, quarter or year',
  examples: ['cost forecast', 'cost forecast quarter', 'cost forecast year team analytics'],
  label: 'Month, quarter or year, and a scope',
  ask: answerForecast,
});

export const costWhy = question({
  name: 'cost why',
  title: 'Explain costs',
  summary: 'Show what changed the costs between two periods',
  examples: ['cost why 7d', 'cost why last month', 'cost why 7d team analytics'],
  ask: answerWhy,
});

const PERIODS = ['day', 'week'] as const;

/** The title of the form of an action, and of its button. */
const TASKS = new Map<string, { readonly title: string; readonly submit: string }>(
  DIGEST_ACTIONS.map((action) => {
    const verb = upperFirst(action === 'now' ? 'post' : action);
    return [action, { title: `${verb} a cost digest`, submit: `${verb} digest` }];
  }),
).set('list', { title: 'List cost digests', submit: 'List digests' });

/** What people call the actions. */
const ACTION_WORDS = {
  ...{ ls: 'list', show: 'list', all: 'list', create: 'add', new: 'add', subscribe: 'add' },
  ...{ start: 'add', delete: 'remove', unsubscribe: 'remove', cancel: 'remove' },
  ...{ send: 'now', post: 'now', unpause: 'resume', suspend: 'pause' },
};

/** `every monday at 8`, `weekly prod`, `stop`: asked about, because a digest is posted for others. */
function digestPhrase(words: readonly string[], { given, vocabulary }: PhraseState): Phrase | null {
  if (given.what !== undefined) return null;
  const first = words[0]?.toLowerCase() ?? '';
  if (DIGEST_ACTIONS.some((action) => action === first) || first in ACTION_WORDS) return null;
  if (/^(stop|end|off|disable|mute)$/.test(first)) {
    const readings = ['pause', 'remove'].map((what) => ({ label: what, given: { what } }));
    return { taken: 1, choice: { why: 'Pause the digest, or remove it?', readings } };
  }
  const isWeekly = /\b(weekly|every week)\b/i.test(words.join(' '));
  const tag = vocabulary.services
    .flatMap(({ tags }) => tags ?? [])
    .find((one) => words.includes(one));
  // `this channel daily`, `weekly for prod at 9:00`
  const said = words.filter((one) => one !== tag && !/^(this|channel|for|week(ly)?)$/i.test(one));
  const { days, times, taken } = weeklyWords(said);
  if (taken < said.length || (days === null && !isWeekly)) return null;
  const all = {
    ...(isWeekly || !/^(daily|weekdays)$/.test(days ?? '') ? { period: 'week' } : {}),
    ...(days && { days: days.replaceAll(' ', ',') }),
    ...(tag && { tags: tag }),
  };
  const hours = times.flatMap((time) => time.hours.map((at) => ({ at, ...all })));
  const readings = (hours.length > 0 ? hours : [all]).map((given) => {
    const label = Object.entries(given).map(([key, value]) =>
      key === 'period' ? `every=${value}` : `${key}=${value}`,
    );
    return { label: `add ${label.join(' ')}`, given: { what: 'add', ...given } };
  });
  const why = `Add a digest for “${words.join(' ')}”? When is it posted?`;
  return { taken: words.length, choice: { why, readings } };
}

const Action = z.enum(DIGEST_ACTIONS, { error: `must be ${oneOf(DIGEST_ACTIONS)}` });
const Names = z.array(z.string().max(80)).max(50);

/** `weekdays`, `daily`, `mon` or `mon, thu`; a single word stays one. */
function daysOf(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const words = wordsIn(value);
  return words.length === 1 ? words[0] : words;
}

const wordsIn = (typed: string) => typed.toLowerCase().match(/[^\s,]+/g) ?? [];

function readDays(typed: string): string | null {
  const days = weeklyDaysText(typed);
  return days?.replace('weekends', 'sat sun').replaceAll(' ', ',') ?? null;
}

/** `monday, thr` → `mon,thu`; none if a word is similar to no day. */
function daysNear(typed: string): readonly string[] {
  const near = wordsIn(typed).map((word) => nearest(word, DAY_WORDS, 1)[0] ?? word);
  return [readDays(near.join(' '))].filter((days) => days !== null);
}

export const costDigest = queryCommand({
  name: 'cost digest',
  program: 'none',
  title: 'Manage cost digests',
  summary: 'List, add, pause or post the cost digests of channels',
  examples: [
    'cost digest list',
    'cost digest add #db-costs at=09:30 zone=Europe/Berlin days=weekdays tag=prod',
    'cost digest now #db-costs',
  ],
  permission: 'organization:view',
  args: z.strictObject({
    what: choiceField(Action, () => DIGEST_ACTIONS, {
      means: ACTION_WORDS,
      label: 'Action',
      hint: 'Default: list',
      redraws: true,
    }),
    which: channelField(z.string().max(100), {
      key: 'channel',
      label: 'Channel',
      hint: 'Default: the current channel',
    }),
    at: textField(digestWords.at, {
      word: 'at',
      synonyms: ['hour', 'when'],
      reads: timeOfDay,
      label: 'Time',
      hint: 'For example 09:30 (default)',
    }),
    timezone: ZoneName,
    days: textField(z.preprocess(daysOf, digestWords.days), {
      word: 'days',
      synonyms: ['on'],
      reads: readDays,
      suggestions: daysNear,
      label: 'Days',
      hint: 'weekdays, daily, or days, for example mon, thu. Default: weekdays',
    }),
    period: choiceField(z.enum(PERIODS), () => PERIODS, {
      means: { daily: 'day', weekly: 'week' },
      word: 'every',
      label: 'Report period',
      hint: 'Default: day',
    }),
    services: linesField(Names, { word: 'service', label: 'Only these services' }),
    warehouses: linesField(Names, { word: 'warehouse', label: 'Only these warehouses' }),
    tags: linesField(Names, { word: 'tag', label: 'Only services with these tags' }),
    teams: linesField(Names, { word: 'team', label: 'Only services of these teams' }),
    quiet: switchField(z.boolean(), {
      word: 'quiet',
      label: 'Post only if something needs attention',
    }),
    confirm: choiceField(z.literal('yes', 'must be yes'), () => ['yes'], {
      word: 'confirm',
      label: 'Confirm the removal',
      typedOnly: true,
    }),
  }),
  hasField: (field, { given }) => {
    if (field === 'confirm') return given.what === 'remove';
    if (field === 'which') return (given.what ?? 'list') !== 'list';
    return field === 'what' || given.what === 'add' || given.what === 'preview';
  },
  phrase: digestPhrase,
  // A name or a time that is missing has a default; a bare “add” opens the form.
  needsForm: ({ what, ...rest }) => what === 'add' && Object.keys(rest).length === 0,

  taskField: 'what',
  formTitle: ({ what = '' }) => TASKS.get(what)?.title,
  submit: ({ what = '' }) => TASKS.get(what)?.submit ?? 'Continue',
  acts: ({ what = 'list' }) => what !== 'list' && what !== 'preview',
  answer: (args, { digests }, asker) => {
    const { what = 'list', which, confirm, services, warehouses, tags, teams, ...options } = args;
    const on = bodyOf({ services, warehouses, tags, teams });
    const scope = Object.keys(on).length > 0 ? { on } : {};
    const isConfirmed = confirm === 'yes';
    const given = { ...bodyOf(options), ...scope };
    return digests({ what, which: which ?? null, isConfirmed, options: given }, asker);
  },
});

export const costAnomalies = queryCommand({
  name: 'cost anomalies',
  program: 'read',
  title: 'List unusual costs',
  summary: 'Show unusual costs',
  examples: ['cost anomalies'],
  permission: 'organization:view',
  args: z.strictObject({}),
  answer: (_, { anomalies }) => anomalies.anomalies(),
});

export const costBudget = queryCommand({
  name: 'cost budget',
  program: 'read',
  title: 'Look up budgets',
  summary: 'Show spend and forecast of each budget',
  examples: ['cost budget'],
  permission: 'organization:view',
  args: z.strictObject({}),
  answer: (_, { anomalies }) => anomalies.budgets(),
});
