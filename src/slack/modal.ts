import type { View } from '@slack/web-api';
import type { Change } from '../changes/change.ts';
import { findServices, type Service } from '../directory/directory.ts';
import { type Field, fieldsOf } from '../intent/arguments.ts';
import type { Command } from '../intent/define.ts';
import type { Given } from '../intent/understand.ts';
import type { Verb } from '../workflow/world.ts';
import type { Bot } from './bot.ts';
import { deed } from './naming.ts';
import { bounded, visible } from './rich.ts';
import type { Typed } from './typed.ts';

const REASON: Field = { name: 'reason', label: 'Reason', optional: true };

/** A modal carries ids in its metadata, never a right: all is checked again on submission. */
export function callbackIdOf(command: Command): string {
  return command.name.replaceAll(' ', '.');
}

export async function openCommandModal(
  bot: Bot,
  { trigger, channel }: Pick<Typed, 'trigger' | 'channel'>,
  command: Command,
  given: Given,
): Promise<void> {
  const view = commandModal(command, given, bot.world.reach().services, channel ?? '');
  await bot.clients.views.views.open({ trigger_id: trigger, view });
}

export function commandModal(
  command: Command,
  given: Given,
  services: readonly Service[],
  channel: string,
): View {
  const fields = [...fieldsOf(command.args), ...(command.kind === 'change' ? [REASON] : [])];
  return {
    type: 'modal',
    callback_id: callbackIdOf(command),
    private_metadata: channel,
    title: plain(command.summary, 24),
    submit: plain(command.kind === 'change' ? 'Preview' : 'Show', 24),
    close: plain('Close', 24),
    blocks: fields.map((field) => input(field, given[field.name] ?? '', services)),
  };
}

function input(field: Field, value: string, services: readonly Service[]) {
  return {
    type: 'input' as const,
    block_id: field.name,
    label: plain(field.label, 150),
    optional: field.optional,
    element: field.names === 'service' ? serviceSelect(field, value, services) : text(field, value),
  };
}

function serviceSelect({ name }: Field, value: string, services: readonly Service[]) {
  const [service, ...others] = findServices(services, value);
  const known = service && others.length === 0;
  return {
    type: 'external_select' as const,
    action_id: name,
    min_query_length: 0,
    placeholder: plain('Choose a service', 150),
    ...(known ? { initial_option: serviceOption(service) } : {}),
  };
}

export function serviceOption({ id, name, tags }: Service) {
  const about = [...tags, id.slice(0, 8)].join(' · ');
  return { text: plain(name, 75), value: id, description: plain(about, 75) };
}

function text({ name }: Field, value: string) {
  return {
    type: 'plain_text_input' as const,
    action_id: name,
    multiline: name === 'reason',
    max_length: name === 'reason' ? 500 : 3_000,
    ...(value ? { initial_value: value } : {}),
  };
}

const QUESTIONS = {
  reject: { title: 'Reject', label: 'Why?', submit: 'Reject' },
  happened: { title: 'It happened', label: 'What did you see?', submit: 'Tell everyone' },
  'did-not-happen': {
    title: 'It did not happen',
    label: 'What did you see?',
    submit: 'Tell everyone',
  },
} as const;
export type Question = keyof typeof QUESTIONS;

/** The decisions that need words ask for them in a modal before anything is stored. */
export function isQuestion(verb: Verb): verb is Question {
  return Object.hasOwn(QUESTIONS, verb);
}

/** Asks for the words that a decision needs, and says once more what it is about. */
export function questionModal(question: Question, change: Change): View {
  const { title, label, submit } = QUESTIONS[question];
  return {
    type: 'modal',
    callback_id: `change.${question}`,
    private_metadata: change.id,
    title: plain(title, 24),
    submit: plain(submit, 24),
    close: plain('Back', 24),
    blocks: [
      { type: 'section', text: plain(`${deed(change)} (${change.id})`, 3_000) },
      {
        type: 'input',
        block_id: 'reason',
        label: plain(label, 150),
        element: {
          type: 'plain_text_input',
          action_id: 'reason',
          multiline: true,
          max_length: 500,
        },
      },
    ],
  };
}

function plain(words: string, most: number) {
  const shown = bounded(visible(words), most) || '–';
  return { type: 'plain_text' as const, text: shown, emoji: false };
}
