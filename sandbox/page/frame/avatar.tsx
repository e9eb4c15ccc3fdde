const COLORS = [
  ...['#7c3085', '#1164a3', '#2b7d5b', '#b0632a'],
  ...['#a3314f', '#4b5aa8', '#5b6b1f', '#0f7c86'],
];

function colorOf(id: string): string {
  let sum = 0;
  for (const letter of id) sum = (sum * 31 + letter.charCodeAt(0)) % 9973;
  return COLORS[sum % COLORS.length] ?? '#7c3085';
}

interface Props {
  readonly id: string;
  readonly name: string;
  readonly bot: boolean;
  readonly small?: boolean;
}

/** The initial of a person, or the railway signal of the app. */
export function Avatar({ id, name, bot, small = false }: Props) {
  const look = small ? 'avatar small' : 'avatar';
  if (bot) return <SignalArm look={look} />;
  return (
    <span className={look} style={{ backgroundColor: colorOf(id) }} aria-hidden="true">
      {name.slice(0, 1).toUpperCase()}
    </span>
  );
}

function SignalArm({ look }: { look: string }) {
  return (
    <span className={`${look} bot`} aria-hidden="true">
      <svg viewBox="0 0 36 36" aria-hidden="true">
        <path d="M11 31V6" stroke="#fff" strokeWidth="2.6" />
        <path d="M7 31h8" stroke="#fff" strokeWidth="2.6" />
        <path d="m11 9 18-4v7l-18 4z" fill="#e01e5a" />
        <path d="m24.5 6.1 2-.4v7l-2 .4z" fill="#fff" />
        <circle cx="11" cy="12.5" r="3" fill="#ecb22e" />
      </svg>
    </span>
  );
}
