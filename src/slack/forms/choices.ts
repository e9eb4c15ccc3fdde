import type { Field, TypedValues } from '../../commands/arguments.ts';
import type { Vocabulary } from '../../commands/define.ts';
import { utcStamp } from '../../domain/answer.ts';
import {
  type NamedScope,
  type SlackFreeze,
  scopesOf,
  servicesIn,
  tagsOf,
  warehousesOf,
} from '../../domain/freezes.ts';
import { findByName, type NamedItem, type Service } from '../../domain/targets.ts';
import { type Choice, VALUE_MAX } from './inputs.ts';

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
  const [one, ...others] = findByName(choices.map(asNamed), value);
  if (one && others.length === 0) return choices.find(({ id }) => id === one.id) ?? null;
  // An id that is in no list stays chosen.
  return others.length === 0 && field.names !== 'service'
    ? { id: value, name: value, about: '' }
    : null;
}

function asNamed({ id, name }: Choice): NamedItem {
  return { id, name, aliases: [] };
}

/** The choices of a field, for the values given so far. */
export function choicesFor(
  { names, lists: kind }: Field,
  given: TypedValues,
  { services, alerts, freezes = [], commands, lists = {} }: Vocabulary,
): readonly Choice[] {
  if (kind) return lists[kind] ?? [];
  if (names === 'service') return services.map(serviceChoice);
  if (names === 'scope') return scopesOf(services).map((one) => scopeChoice(one, services));
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
