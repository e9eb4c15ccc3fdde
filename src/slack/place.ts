// The place of a press. The log knows the messages in channels. For a preview, an answer, the Home tab and a form, the
// value of the button carries a MAC, which nobody can make who has only the bot token.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { VERBS } from '../domain/change.ts';
import { INCIDENT_VERBS } from '../domain/incidents.ts';
import type { Place } from '../domain/place.ts';
import { CHOICE_MAX } from './blocks.ts';
import { type ButtonPress, isHome } from './payload.ts';

/** `private`: an ephemeral or direct message. */
type PlaceKind = 'private' | 'home' | 'form';

interface PlacedButton {
  /** A change, an anomaly or a command line. */
  readonly change: string;
  /** The action id, for example `change.approve`. */
  readonly action: string;
  readonly user: string;
  readonly kind: PlaceKind;
  /** What else the MAC covers: for a form, where the button that opened it was pressed. */
  readonly about?: string;
}

export type Places = ReturnType<typeof createPlaces>;

/** Signs with the first of these keys; the others verify only. */
export function createPlaces(keys: readonly Buffer[]) {
  const macs = ({ change, action, user, kind, about = '' }: PlacedButton) =>
    keys.map((key) => {
      const text = JSON.stringify([change, action, user, kind, about]);
      return createHmac('sha256', key).update(text).digest().subarray(0, MAC_BYTES);
    });
  return {
    sign: (button: PlacedButton) => macs(button)[0]?.toString('base64url') ?? '',
    isSigned: (button: PlacedButton, mac: string) => {
      const given = Buffer.from(mac, 'base64url');
      return macs(button).some((own) => own.length === given.length && timingSafeEqual(own, given));
    },
  };
}

const MAC_BYTES = 16;
/** Letters that a MAC adds to a value. */
export const MAC_LENGTH = 23;
const SIGNED = /^(.*)\.([\w-]{22})$/s;
const DECIDING = new Set([
  ...VERBS.map((verb) => `change.${verb}`),
  ...INCIDENT_VERBS.map((verb) => `incident.${verb}`),
]);

/** What the value of a button is about: a change, an anomaly or a command line. In a channel it has no MAC. */
export function splitValue(value: string): { readonly about: string; readonly mac: string } {
  const [, about = value, mac = ''] = SIGNED.exec(value) ?? [];
  return { about, mac };
}

/** The same blocks with signed values of the deciding buttons, for a private message or the Home tab. */
export function withPlaces<Block extends { readonly type: string }>(
  places: Places,
  blocks: readonly Block[],
  to: Pick<PlacedButton, 'user' | 'kind'>,
  isDeciding: (action: string, value: string) => boolean = (action) => DECIDING.has(action),
): readonly Block[] {
  const signedValue = (action: unknown, value: unknown) => {
    if (typeof value !== 'string' || !isDeciding(String(action), value)) return value;
    return `${value}.${places.sign({ ...to, change: value, action: String(action) })}`;
  };
  const optionOf = (option: Element) => {
    const [action, value] = String(option.value).split(' ');
    return { ...option, value: [action, signedValue(action, value)].filter(Boolean).join(' ') };
  };
  const elementOf = (element: Element) => {
    const { type, action_id, options } = element;
    if (Array.isArray(options)) {
      if (type === 'overflow') return { ...element, options: options.map(optionOf) };
      const signed = options.map((option: Element) => {
        return { ...option, value: signedValue(action_id, option.value) };
      });
      const fitting = signed.filter(({ value }) => String(value).length <= CHOICE_MAX);
      return { ...element, options: fitting };
    }
    return { ...element, value: signedValue(action_id, element.value) };
  };
  return blocks.map((block) => {
    // Blocks have different fields by their type.
    const elements: unknown = Reflect.get(block, 'elements');
    if (block.type !== 'actions' || !Array.isArray(elements)) return block;
    return { ...block, elements: elements.map(elementOf) };
  });
}

type Element = Readonly<Record<string, unknown>>;

/** Where a deciding button was pressed. */
export function readPlace(
  places: Places,
  pressed: ButtonPress,
  { id: action, value }: { readonly id: string; readonly value: string },
): Place {
  const { container, channel } = pressed;
  const ts = container?.is_ephemeral ? undefined : container?.message_ts;
  // Nowhere in an ephemeral message, and in views.
  const at = channel && ts ? { channel: channel.id, ts } : null;
  const isPrivate = at === null || at.channel.startsWith('D');
  const kind = isHome(pressed) ? 'home' : isPrivate ? 'private' : null;
  const { about: change, mac } = splitValue(value);
  const button = { change, action, user: pressed.user.id };
  if (kind && mac !== '' && places.isSigned({ ...button, kind }, mac)) return { kind: 'own' };
  const thread = container?.thread_ts ?? null;
  return at ? { kind: 'message', at, thread } : { kind: 'unknown' };
}
