import type { Block, KnownBlock, ModalView } from '@slack/types';
import {
  bounded,
  boundedMrkdwn,
  elementOf,
  type Line,
  mrkdwnOf,
  oneLine,
  type RichInline,
  visible,
} from './rich-text.ts';

/** A message as blocks, and as text for notifications and screen readers. */
export interface Message {
  readonly text: string;
  readonly blocks: readonly AnyBlock[];
}

export type AnyBlock = KnownBlock | (Block & Readonly<Record<string, unknown>>);

export interface Button {
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly style?: 'primary' | 'danger';
  /** Two or more of these share one overflow menu at the end of the row. */
  readonly inMenu?: true;
}

const TEXT_MAX = 3_500;

export function message(...parts: readonly (MessagePart | null)[]): Message {
  const shown = parts.filter((part) => part !== null);
  const text = shown
    .map((part) => part.text)
    .filter(Boolean)
    .join('\n');
  return { text: boundedMrkdwn(text, TEXT_MAX), blocks: shown.map((part) => part.block) };
}

/** The same message with a small line below it. */
export function withNote({ text, blocks }: Message, ...line: Line): Message {
  return { text, blocks: [...blocks, noteLine(...line).block] };
}

/** A block and its plain text. */
export interface MessagePart {
  readonly block: AnyBlock;
  readonly text: string;
}

export function title(text: string): MessagePart {
  const shown = bounded(oneLine(visible(text)), 150);
  const block = { type: 'header', text: plain(shown, 150) };
  return { block, text: mrkdwnOf([shown]) };
}

export function lines(...all: readonly Line[]): MessagePart | null {
  if (all.length === 0) return null;
  const sections = all.flatMap((line, index) => [
    { type: 'rich_text_section', elements: withBreak(line, index < all.length - 1) },
  ]);
  return {
    block: { type: 'rich_text', elements: sections },
    text: all.map((line) => mrkdwnOf(line)).join('\n'),
  };
}

// Slack puts no line break between the sections of one block.
function withBreak(line: Line, breaks: boolean) {
  const elements = filled(line).map(elementOf);
  return breaks ? [...elements, { type: 'text', text: '\n' }] : elements;
}

/** Without the empty parts, each of which would be drawn as a dash; a line of nothing else is a dash. */
function filled(line: Line): Line {
  const parts = line.filter((part) => part !== '');
  return parts.length > 0 ? parts : ['–'];
}

/** Literal text of at most so many characters. */
export function plain(words: string, most: number) {
  const shown = bounded(visible(words), most) || '–';
  return { type: 'plain_text' as const, text: shown, emoji: false };
}

interface ModalOptions {
  /** Without it, and without `submit`, the modal only shows something. */
  readonly id?: string;
  readonly metadata?: string;
  readonly submit?: string;
  readonly close?: string;
  readonly blocks: readonly AnyBlock[];
}

export function modal(
  title: string,
  { id, metadata, submit, close = 'Close', blocks }: ModalOptions,
): ModalView {
  return {
    type: 'modal',
    ...(id === undefined ? {} : { callback_id: id }),
    ...(metadata === undefined ? {} : { private_metadata: metadata }),
    title: plain(title, 24),
    ...(submit === undefined ? {} : { submit: plain(submit, 24) }),
    close: plain(close, 24),
    blocks: [...blocks],
  };
}

/** A section of literal text. */
export function section(text: string) {
  return { type: 'section', text: plain(text, 3_000) } as const;
}

/** `Reason  nightly maintenance`: the label stands out, the value is literal. */
export function fact(label: string, ...value: Line): Line {
  return [{ bold: label }, '  ', ...filled(value).map(onOneLine)];
}

function onOneLine(part: RichInline): RichInline {
  if (typeof part === 'string') return oneLine(part);
  if ('bold' in part) return { bold: oneLine(part.bold) };
  return 'code' in part ? { code: oneLine(part.code) } : part;
}

export function noteLine(...line: Line): MessagePart {
  return { block: { type: 'context', elements: [noteElement(line)] }, text: '' };
}

/** Text without mentions is plain_text: mrkdwn would format the stars and colons of a name. */
export function noteElement(line: Line) {
  const words = line.filter((part) => typeof part === 'string');
  if (words.length < line.length) {
    return { type: 'mrkdwn', text: boundedMrkdwn(mrkdwnOf(line), 2_900), verbatim: true };
  }
  return plain(words.join(''), 2_900);
}

export function buttons(id: string, ...all: readonly Button[]): MessagePart | null {
  if (all.length === 0) return null;
  const inMenu = all.filter((button) => button.inMenu);
  const hasMenu = inMenu.length > 1;
  const shown = hasMenu ? all.filter((button) => !button.inMenu) : all;
  const elements = [...shown.map(buttonElement), ...(hasMenu ? [overflowMenu(inMenu)] : [])];
  return { block: { type: 'actions', block_id: id, elements }, text: '' };
}

function buttonElement({ id, value, label, style }: Button) {
  return {
    type: 'button',
    action_id: id,
    value,
    text: plainLine(label, 75),
    ...(style ? { style } : {}),
  };
}

function plainLine(words: string, most: number) {
  return plain(oneLine(words), most);
}

/** The action id of an overflow menu. The value of an option is the id and the value of its button. */
export const OVERFLOW = 'menu.more';

function overflowMenu(all: readonly Button[]) {
  const options = all.map(({ id, label, value }) => ({
    text: plainLine(label, 75),
    value: `${id} ${value}`,
  }));
  return { type: 'overflow', action_id: OVERFLOW, options };
}

/** Slack rejects the whole message when a field is longer. */
const FIELD_MAX = 2_000;

/** A row of a list: literal text, a second column, and one button. */
export function row(text: string, about: Line, button: Button | null): MessagePart {
  const shown = oneLine(text);
  // In mrkdwn, Slack would format the stars and colons of a name.
  const fields = [
    plainLine(shown, FIELD_MAX),
    { type: 'mrkdwn', text: boundedMrkdwn(mrkdwnOf(filled(about)), FIELD_MAX), verbatim: true },
  ];
  const accessory = button ? { accessory: buttonElement(button) } : {};
  return {
    block: { type: 'section', fields, ...accessory },
    text: mrkdwnOf([shown, ' · ', ...about]),
  };
}

/** Slack rejects the whole message when an option value is longer. */
export const CHOICE_MAX = 75;

/** A select of up to 100 values; choosing one is a press of the button with this id. */
export function menu(
  id: string,
  label: string,
  choices: readonly Pick<Button, 'label' | 'value'>[],
): MessagePart | null {
  const options = choices
    .filter(({ value }) => value.length <= CHOICE_MAX)
    .slice(0, 100)
    .map((choice) => ({ text: plainLine(choice.label, 75), value: choice.value }));
  if (options.length === 0) return null;
  const placeholder = plainLine(label, 150);
  const select = { type: 'static_select', action_id: id, placeholder, options };
  return { block: { type: 'actions', block_id: id, elements: [select] }, text: '' };
}
