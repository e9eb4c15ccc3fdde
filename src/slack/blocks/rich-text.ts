import type { ChannelId, UserId } from '../../changes/change.ts';

/**
 * A line of text as we write it: our own words and other people's alike are strings, and neither
 * is ever read as markup. Only the objects mention, link to a time or stand out.
 */
export type RichInline =
  | string
  | { readonly bold: string }
  | { readonly code: string }
  | { readonly user: UserId }
  | { readonly group: string }
  | { readonly channel: ChannelId }
  | { readonly at: Date };
export type Line = readonly RichInline[];

export type RichElement = Readonly<Record<string, unknown>> & { readonly type: string };

const DATE_FORMAT = '{date_short_pretty} at {time}';

const PLAIN = /^[\n -~]*$/;

/** A name may bring control and direction marks that make it look like another one. */
export function visible(text: string): string {
  // Nearly every text, and many times quicker to see than to look for the marks of all scripts.
  if (PLAIN.test(text)) return text;
  const spaced = text.replace(/\t/g, ' ');
  return spaced.replace(/[\p{Cc}\p{Cf}]/gu, (mark) => (mark === '\n' ? '\n' : ''));
}

/** For what stands beside a label or in a title, where a line break could write a line of ours. */
export function oneLine(text: string): string {
  return text.replace(/\s*[\n\u2028\u2029]\s*/g, ' ');
}

/** Cut by whole characters, so that the limit never splits one. */
export function bounded(text: string, most: number): string {
  if (text.length <= most) return text;
  const letters = [...text];
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join('')}…`;
}

/** Cut like any text, but never within an escape, a mention or a date: half of one is markup. */
export function boundedMrkdwn(text: string, most: number): string {
  const cut = bounded(text, most);
  return cut === text ? text : `${cut.slice(0, -1).replace(/(?:<[^<>]*|&[a-z]*)$/, '')}…`;
}

/** The three characters of Slack's markup; escaped before it is cut, or a cut could undo it. */
export function escaped(text: string): string {
  return visible(text).replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
}

export function elementOf(inline: RichInline): RichElement {
  if (typeof inline === 'string') return textElement(inline);
  if ('bold' in inline) return textElement(inline.bold, { bold: true });
  if ('code' in inline) return textElement(inline.code, { code: true });
  if ('user' in inline) return { type: 'user', user_id: inline.user };
  if ('group' in inline) return { type: 'usergroup', usergroup_id: inline.group };
  if ('channel' in inline) return { type: 'channel', channel_id: inline.channel };
  return {
    type: 'date',
    timestamp: seconds(inline.at),
    format: DATE_FORMAT,
    fallback: inline.at.toISOString(),
  };
}

function textElement(text: string, style?: Readonly<Record<string, boolean>>): RichElement {
  const shown = bounded(visible(text), 2_000) || '–';
  return { type: 'text', text: shown, ...(style ? { style } : {}) };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}

/** The same line for the `text` of a message, which notifications and screen readers use. */
export function mrkdwnOf(line: Line): string {
  return line.map(mrkdwnPart).join('');
}

function mrkdwnPart(inline: RichInline): string {
  if (typeof inline === 'string') return escaped(inline);
  if ('bold' in inline) return escaped(inline.bold);
  if ('code' in inline) return escaped(inline.code);
  if ('user' in inline) return `<@${inline.user}>`;
  // A mention in the text would ping a second time; the block beside it has done so already.
  if ('group' in inline) return 'the approvers';
  if ('channel' in inline) return `<#${inline.channel}>`;
  return `<!date^${seconds(inline.at)}^${DATE_FORMAT}|${inline.at.toISOString()}>`;
}

/** Between names: `A, B or C`. */
export function either(parts: readonly RichInline[]): Line {
  return parts.flatMap((part, index) => {
    if (index === 0) return [part];
    return [index === parts.length - 1 ? ' or ' : ', ', part];
  });
}
