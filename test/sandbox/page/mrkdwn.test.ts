import { expect, test } from 'vitest';
import {
  type Inline,
  isSafeLink,
  parseInline,
  parseMrkdwn,
} from '../../../sandbox/page/text/mrkdwn.ts';

/** The tree as a short text for the table of cases. */
function short(nodes: readonly Inline[]): string {
  return nodes.map(drawn).join('');
}

function drawn(node: Inline): string {
  switch (node.kind) {
    case 'bold':
    case 'italic':
    case 'strike':
      return `[${node.kind} ${short(node.inside)}]`;
    case 'text':
      return node.text;
    case 'broadcast':
      return `[broadcast ${node.text}]`;
    case 'user':
    case 'channel':
    case 'group':
      return `[${node.kind} ${node.id}]`;
    case 'date':
      return `[date ${node.at} ${node.format} ${node.text}]`;
    case 'link':
      return `[link ${node.href} ${node.text}]`;
    default:
      return `[code ${node.text}]`;
  }
}

test.for<[what: string, source: string, expected: string]>([
  ['styles', '*b* _i_ ~s~ `c`', '[bold b] [italic i] [strike s] [code c]'],
  ['nested styles', '_*both*_', '[italic [bold both]]'],
  ['a style next to punctuation', '(*b*), *b*.', '([bold b]), [bold b].'],
  ['a multiplication', '2*3*4', '2*3*4'],
  ['names with underscores', '5xx_rate_total', '5xx_rate_total'],
  ['a time of day', 'sent 14:02:11', 'sent 14:02:11'],
  ['an emoji name', ':tada:', ':tada:'],
  ['a person in bold', '*<@U1> asks*', '[bold [user U1] asks]'],
  ['a channel with its name', '<#C1|ops>', '[channel C1]'],
  ['a group', '<!subteam^S1|@leads>', '[group S1]'],
  ['everyone', '<!here>', '[broadcast here]'],
  ['a date', '<!date^17^{time}|then>', '[date 17 {time} then]'],
  ['a link with a text', '<https://a.b?c=1&amp;d=2|see>', '[link https://a.b?c=1&d=2 see]'],
  ['a mail address', '<mailto:a@b.c>', '[link mailto:a@b.c a@b.c]'],
  ['escaped characters', '&lt;b&gt; &amp;amp;', '<b> &amp;'],
  ['styles within code', '`*no*`', '[code *no*]'],
  ['a Markdown link', '[x](https://a.b)', '[x](https://a.b)'],
  ['a link that runs a script', '<javascript:alert(1)|x>', '<javascript:alert(1)|x>'],
])('%s is parsed as in Slack', ([, source, expected]) => {
  expect(short(parseInline(source))).toBe(expected);
});

test('quotes and code blocks are separate parts', () => {
  expect(parseMrkdwn('> one\n&gt; two\nthen\n```a *b*\nc```').map(({ kind }) => kind)).toEqual([
    'quote',
    'lines',
    'pre',
  ]);
});

test('headings, tables and lists of Markdown stay text', () => {
  const source = '# no head\na | b\n--|--\n1. one\n    far in';
  expect(parseMrkdwn(source)).toEqual([
    { kind: 'lines', inside: [{ kind: 'text', text: source }] },
  ]);
});

test.for(['javascript:alert(1)', 'JavaScript:alert(1)', 'data:text/html,x', 'vbscript:x', ''])(
  'the address "%s" does not become a link',
  (href) => {
    expect(isSafeLink(href)).toBe(false);
  },
);
