import { expect, test } from 'vitest';
import type { ChannelId, UserId } from '../../src/domain/change.ts';
import { ButtonPress } from '../../src/slack/payload.ts';
import { createPlaces, readPlace, splitValue, withPlaces } from '../../src/slack/place.ts';

const [KEY, NEXT] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const BUTTON = { change: '7KQ2MX', action: 'change.approve', user: 'UBEN', kind: 'home' } as const;
const places = createPlaces([KEY]);
const mac = places.sign(BUTTON);

test.for([
  ['another change', { change: '7KQ2MY' }],
  ['another action', { action: 'change.reject' }],
  ['another user', { user: 'UCLEO' }],
  ['another kind of place', { kind: 'private' }],
  ['other content', { about: 'x' }],
] as const)('a MAC is not valid for %s', ([, other]) => {
  expect(places.isSigned({ ...BUTTON, ...other }, mac)).toBe(false);
});

test.for(['', 'x', mac.slice(1), `${mac}AA`])('the text “%s” is no MAC', (text) => {
  expect(places.isSigned(BUTTON, text)).toBe(false);
});

test('after a change of the key, MACs of the previous one are valid', () => {
  expect(createPlaces([NEXT, KEY]).isSigned(BUTTON, mac)).toBe(true);
  expect(createPlaces([NEXT]).isSigned(BUTTON, mac)).toBe(false);
});

test('lines that act are signed, also in a menu, and a line that is too long with its MAC is left out', () => {
  const menu = (...lines: readonly string[]) => ({
    type: 'static_select',
    action_id: 'command.menu',
    options: lines.map((value) => ({ value })),
  });
  const acts = (_: string, line: string) => line.startsWith('act');
  const long = `act ${'x'.repeat(60)}`;
  const blocks = [{ type: 'actions', elements: [menu('act now', long, 'show')] }];
  const to = { user: 'UANA', kind: 'private' } as const;
  const own = places.sign({ ...to, change: 'act now', action: 'command.menu' });
  expect(withPlaces(places, blocks, to, acts)).toEqual([
    { type: 'actions', elements: [menu(`act now.${own}`, 'show')] },
  ]);
});

test('deciding buttons are signed, also in a menu; other buttons keep their values', () => {
  const more = (cancel: string) => ({
    ...{ type: 'overflow', action_id: 'more' },
    options: [{ value: `change.cancel ${cancel}` }, { value: 'change.details 7KQ2MX' }],
  });
  const button = (verb: string, value = '7KQ2MX') => {
    return { type: 'button', action_id: `change.${verb}`, value };
  };
  const elements = [button('confirm'), button('edit'), more('7KQ2MX')];
  const blocks = [{ type: 'section' }, { type: 'actions', elements }];
  const to = { user: 'UANA', kind: 'private' } as const;
  const signed = (action: string) => `7KQ2MX.${places.sign({ ...to, change: '7KQ2MX', action })}`;
  const own = [
    button('confirm', signed('change.confirm')),
    button('edit'),
    more(signed('change.cancel')),
  ];
  expect(withPlaces(places, blocks, to)).toEqual([
    { type: 'section' },
    { type: 'actions', elements: own },
  ]);
  expect(splitValue(signed('change.confirm')).about).toBe('7KQ2MX');
});

const button = (value: string) => ({ id: 'change.approve', value });
const inHome = {
  view: { id: 'V1', type: 'home', callback_id: '', private_metadata: '', state: { values: {} } },
};
const inMessage = (channel: string, isEphemeral = false) => ({
  channel: { id: channel },
  container: { message_ts: '1.2', is_ephemeral: isEphemeral },
});
const pressedIn = (place: object) =>
  ButtonPress.parse({
    ...{ user: { id: 'UBEN' as UserId }, trigger_id: '1', actions: [{ action_id: 'x' }] },
    ...place,
  });
const signedFor = (kind: 'home' | 'private') => `7KQ2MX.${places.sign({ ...BUTTON, kind })}`;
const at = (channel: string) => ({
  kind: 'message',
  at: { channel: channel as ChannelId, ts: '1.2' },
  thread: null,
});

test.for<[string, object, string, object]>([
  ['the own Home tab', inHome, signedFor('home'), { kind: 'own' }],
  ['a Home tab without a MAC', inHome, '7KQ2MX', { kind: 'unknown' }],
  ['a Home tab with the MAC of a message', inHome, signedFor('private'), { kind: 'unknown' }],
  ['an own ephemeral message', inMessage('C1', true), signedFor('private'), { kind: 'own' }],
  ['an ephemeral message without a MAC', inMessage('C1', true), '7KQ2MX', { kind: 'unknown' }],
  ['an own direct message', inMessage('D1'), signedFor('private'), { kind: 'own' }],
  ['a direct message without a MAC', inMessage('D1'), '7KQ2MX', at('D1')],
  ['a message in a channel', inMessage('C1'), '7KQ2MX', at('C1')],
  ['a message in a channel with a MAC', inMessage('C1'), signedFor('private'), at('C1')],
])('a press in %s has its place', ([, where, value, place]) => {
  expect(readPlace(places, pressedIn(where), button(value))).toEqual(place);
});
