import { expect, test } from 'vitest';
import { type Anchor, anchorLine, readAnchor } from '../../src/log/old/anchor.ts';

const [KEY, OTHER] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
const ANCHOR: Anchor = { seq: 1_234, hash: 'ab'.repeat(32), installation: '0123456789abcdef' };
const SIGNED = anchorLine(ANCHOR, KEY);
const UNSIGNED = anchorLine(ANCHOR, null);

test('an anchor is read with its own key, and without a key where it has no signature', () => {
  expect(readAnchor(SIGNED, KEY)).toEqual(ANCHOR);
  expect(readAnchor(UNSIGNED, null)).toEqual(ANCHOR);
  expect(readAnchor(anchorLine(ANCHOR, OTHER), { current: KEY, previous: [OTHER] })).toEqual(
    ANCHOR,
  );
});

test.for<[string, string, Buffer | null]>([
  ['text before an anchor', `x ${SIGNED}`, KEY],
  ['text before an anchor without a key', `x ${UNSIGNED}`, null],
  ['text after an anchor', `${SIGNED} x`, KEY],
  ['a signature with another key', anchorLine(ANCHOR, OTHER), KEY],
  ['a missing signature', UNSIGNED, KEY],
  ['a signature that this process cannot verify', SIGNED, null],
  ['another number', SIGNED.replace('1234', '1235'), KEY],
  ['another installation', SIGNED.replace('0123456789abcdef', 'f'.repeat(16)), KEY],
])('%s is not read as an anchor', ([, text, key]) => {
  expect(readAnchor(text, key)).toBeNull();
});
