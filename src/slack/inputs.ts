import type { KnownBlock } from '@slack/types';
import { grouped } from '../base/text.ts';
import type { Field, FieldContext, TypedValues, Vocabulary } from '../commands/index.ts';
import { utcStamp } from '../domain/answer.ts';
import {
  type NamedScope,
  type SlackFreeze,
  scopesOf,
  servicesIn,
  tagsOf,
  warehousesOf,
} from '../domain/freezes.ts';
import { findByName, type NamedItem, type Service } from '../domain/targets.ts';
import { wordOf } from '../domain/words.ts';
import { plain } from './blocks.ts';
import { bounded } from './rich-text.ts';

const OPTIONS_MAX = 100;
/** The most characters of a text in an input. */
export const LONG_MAX = 3_000;
/** The most characters of the value of an option. */
export const VALUE_MAX = 75;

/** An option of a type-ahead: name, distinguishing description, and id as value. */
export interface Choice {
  readonly id: string;
  readonly name: string;
  readonly about: string;
}

interface FieldState {
  readonly value: string;
  /** The option that the value names, where it is unique. */
  readonly chosen: Choice | null;
  readonly among: FieldContext;
  /** Whether its value is one of a list. */
  readonly isPicked: boolean;
}

/**
 * Why a form cannot show a text, or null. A shortened text would replace the whole one when the form
 * is submitted. `isCurrent`: it is the value of the target, not a typed one.
 */
export function unshownText({ names, input }: Field, value: string, isCurrent: boolean) {
  // Slack refuses a form with such a value in a field for numbers.
  const isNumber = /^(-?\d{1,15}(\.\d+)?)?$/.test(value);
  if (input?.kind === 'number' && !isNumber) return `“${value}” is not a number.`;
  const isText = !names && (input === undefined || input.kind === 'lines');
  if (!isText || value.length <= LONG_MAX) return null;
  const characters = `${grouped(value.length)} characters`;
  return isCurrent
    ? `Has ${characters}, more than a form can show. Leave it empty to keep it.`
    : `Had ${characters}; a form accepts at most ${grouped(LONG_MAX)}. Type the command for a longer text.`;
}

/** The Block Kit element for a kind of field. */
export function elementFor(field: Field, filled: FieldState) {
  const { name, input } = field;
  if (filled.isPicked) return typeAhead(field, filled);
  if (input?.kind === 'choice') return choice(name, input.options(filled.among), filled.value);
  if (input?.kind === 'switch') return choice(name, ['on', 'off'], filled.value);
  if (input?.kind === 'number') return number(name, input, filled.value);
  if (input?.kind === 'channel') return channel(name, filled.value);
  const isLong = name === 'reason' || name === 'message' || input?.kind === 'lines';
  return text(name, filled.value, isLong);
}

interface InputOptions {
  readonly optional?: boolean | undefined;
  readonly hint?: string | null | undefined;
  readonly redraws?: boolean;
  readonly hasFocus?: boolean;
}

/** An element with its label, which has the name of its field. */
export function inputOf(
  name: string,
  label: string,
  element: ReturnType<typeof elementFor>,
  { optional = false, hint, redraws = false, hasFocus = false }: InputOptions,
): KnownBlock {
  return {
    type: 'input',
    block_id: name,
    label: plain(label, 150),
    optional,
    ...(redraws ? { dispatch_action: true } : {}),
    ...(hint ? { hint: plain(hint, 150) } : {}),
    element: hasFocus ? { ...element, focus_on_load: true } : element,
  };
}

type Kind = NonNullable<Field['names'] | Field['lists']>;

/** What is chosen, where it is not `a service`, `a tag` and so on. */
const CHOOSE: Partial<Record<Kind, string>> = {
  scope: 'a service, a tag, a warehouse or everything',
  alert: 'an alert',
  ask: 'a command',
  backup: 'a backup; type the name of a service if none is chosen',
  'data warehouse': 'a warehouse',
};

function typeAhead({ name, names, lists, isPart }: Field, { chosen }: FieldState) {
  const kind = names ?? lists ?? 'service';
  const what = isPart ? 'a service, a tag or a warehouse' : (CHOOSE[kind] ?? `a ${kind}`);
  return {
    type: 'external_select' as const,
    action_id: name,
    min_query_length: 0,
    placeholder: plain(`Choose ${what}`, 150),
    ...(chosen ? { initial_option: optionOf(chosen) } : {}),
  };
}

export function optionOf({ id, name, about }: Choice) {
  const description = about === '' ? {} : { description: plain(about, 75) };
  return { text: plain(name, 75), value: id, ...description };
}

function choice(name: string, options: readonly string[], value: string) {
  const shown = options.slice(0, OPTIONS_MAX).map(textOption);
  const chosen = options.includes(value) ? { initial_option: textOption(value) } : {};
  return { type: 'static_select' as const, action_id: name, options: shown, ...chosen };
}

function textOption(value: string) {
  return { text: plain(wordOf(value), 75), value: bounded(value, 75) };
}

/** Channels that are shared with other workspaces are not offered. */
function channel(name: string, value: string) {
  return {
    type: 'conversations_select' as const,
    action_id: name,
    filter: {
      include: ['public' as const, 'private' as const],
      exclude_external_shared_channels: true,
    },
    ...(/^[CG][A-Z0-9]+$/.test(value)
      ? { initial_conversation: value }
      : { default_to_current_conversation: true }),
  };
}

type NumberInput = Extract<Field['input'], { readonly kind: 'number' }>;

function number(name: string, { decimal, min, max }: NumberInput, value: string) {
  return {
    type: 'number_input' as const,
    action_id: name,
    is_decimal_allowed: decimal,
    ...(min === undefined ? {} : { min_value: String(min) }),
    ...(max === undefined ? {} : { max_value: String(max) }),
    ...(value === '' ? {} : { initial_value: value }),
  };
}

export function text(name: string, value: string, long: boolean) {
  return {
    type: 'plain_text_input' as const,
    action_id: name,
    multiline: long,
    max_length: name === 'reason' ? 500 : LONG_MAX,
    ...(value === '' ? {} : { initial_value: bounded(value, LONG_MAX) }),
  };
}

/** Whether the field is a type-ahead: without a list of its items it is a line of text. */
export function isPickedFrom({ names, lists }: Field, value: string, { offered = [] }: Vocabulary) {
  if (names !== undefined) return true;
  return lists !== undefined && offered.includes(lists) && value.length <= VALUE_MAX;
}

/** The choice that a value names, if it is unique; an id that is in no list stays chosen. */
export function chosenOf(
  field: Field,
  value: string,
  given: TypedValues,
  vocabulary: Vocabulary,
): Choice | null {
  if (value === '') return null;
  const choices = choicesFor(field, given, vocabulary);
  const named = choices.map(({ id, name }) => ({ id, name, aliases: [] }));
  const [one, ...others] = findByName(named, value);
  if (one && others.length === 0) return choices.find(({ id }) => id === one.id) ?? null;
  return others.length === 0 && field.names !== 'service' && value.length <= VALUE_MAX
    ? { id: value, name: value, about: '' }
    : null;
}

/** The choices of a field, for the values given so far. */
export function choicesFor(
  { names, lists: kind, isPart }: Field,
  given: TypedValues,
  { services, alerts, freezes = [], commands, lists = {} }: Vocabulary,
): readonly Choice[] {
  if (kind) return lists[kind] ?? [];
  if (names === 'service') return services.map(serviceChoice);
  if (names === 'scope') {
    const offered = scopesOf(services).filter(({ scope }) => !isPart || !('everything' in scope));
    return offered.map((one) => scopeChoice(one, services));
  }
  if (names === 'tag') return tagsOf(services).map(plainChoice);
  if (names === 'warehouse') return warehousesOf(services).map(plainChoice);
  if (names === 'freeze') return freezes.map(freezeChoice);
  if (names === 'ask') {
    return commands.map(({ name, summary }) => ({ id: name, name, about: summary }));
  }
  if (names === 'alert') return alerts.map(({ id, name }) => ({ id, name, about: id }));
  const [service] = findByName(services, given.service ?? '');
  const owners = service ? [service] : services;
  const listed = lists.pipe ?? [];
  const configured = owners.flatMap(({ name: owner, pipes }) =>
    pipes.map(({ id, name }) => ({ id, name, about: `of ${owner}` })),
  );
  return [...listed, ...configured.filter(({ id }) => listed.every((item) => item.id !== id))];
}

function plainChoice({ id, name }: NamedItem): Choice {
  return { id, name, about: '' };
}

function scopeChoice({ id, name, scope }: NamedScope, services: readonly Service[]): Choice {
  const own = servicesIn(scope, services);
  const [one] = own;
  if ('service' in scope && one) return serviceChoice(one);
  const all = 'everything' in scope ? 'all services' : own.map((each) => each.name).join(', ');
  return { id, name, about: all };
}

function freezeChoice({ id, name, freeze }: SlackFreeze): Choice {
  return { id, name, about: `until ${utcStamp(freeze.until)} · ${id} · ${freeze.reason}` };
}

function serviceChoice({ id, name, tags }: Service): Choice {
  return { id, name, about: [...(tags ?? ['not listed']), id.slice(0, 8)].join(' · ') };
}
