/** The few short names that people type here; any other stays `:name:`, as for an unknown emoji. */
const EMOJI: Readonly<Record<string, string>> = {
  '+1': '👍',
  '-1': '👎',
  thumbsup: '👍',
  thumbsdown: '👎',
  eyes: '👀',
  tada: '🎉',
  wave: '👋',
  fire: '🔥',
  rocket: '🚀',
  warning: '⚠️',
  smile: '😄',
  heart: '❤️',
  ok_hand: '👌',
  pray: '🙏',
  white_check_mark: '✅',
  heavy_check_mark: '✔️',
  x: '❌',
  question: '❓',
  hourglass: '⌛',
  lock: '🔒',
  bell: '🔔',
  chart_with_upwards_trend: '📈',
  rotating_light: '🚨',
};

export const emojiOf = (name: string): string => EMOJI[name] ?? `:${name}:`;

/** In plain text only the emoji are drawn; nothing else is markup there. */
export const withEmoji = (text: string): string =>
  text.replace(/:([a-z][a-z0-9_+-]*|[+-]1):/g, (whole, name) => EMOJI[name] ?? whole);
