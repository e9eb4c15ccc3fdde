import type { ComponentProps } from 'react';

const PATHS = {
  hash: 'M7.5 3 6 17M14 3l-1.5 14M3.5 7h13.5M3 13h13.5',
  lock: 'M5.5 9V6.5a4.5 4.5 0 0 1 9 0V9M4 9h12v8H4z',
  bolt: 'M11 2 4 11.5h5L8 18l8-10h-5.5z',
  send: 'M3 3.5 17.5 10 3 16.5 5 10zM5 10h6',
  reply: 'M3 4h14v10H9l-4 3.5V14H3z',
  back: 'M12.5 4 6.5 10l6 6',
  close: 'M5 5l10 10M15 5 5 15',
  eye: 'M2 10s3-5.5 8-5.5 8 5.5 8 5.5-3 5.5-8 5.5S2 10 2 10zM10 7.5a2.5 2.5 0 1 1 0 5 2.5 2.5 0 0 1 0-5z',
  dots: 'M10 4.5v.01M10 10v.01M10 15.5v.01',
  help: 'M7.5 7.5a2.5 2.5 0 1 1 3.4 2.3c-.6.3-.9.8-.9 1.5v.4M10 14.4v.01M10 18a8 8 0 1 0 0-16 8 8 0 0 0 0 16z',
  check: 'M4 10.5 8.5 15 16 5.5',
  gauge: 'M3 15a7.5 7.5 0 1 1 14 0M10 13l3.5-4.5',
  people:
    'M7.5 9.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 17c0-3 2-5 5-5s5 2 5 5M13 4a3 3 0 0 1 0 5.5M14.5 12c2 .5 3 2.5 3 5',
} as const;

type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg className={`icon icon-${name}`} viewBox="0 0 20 20" width={size} height={size} aria-hidden>
      <path d={PATHS[name]} />
    </svg>
  );
}

interface ButtonProps extends ComponentProps<'button'> {
  readonly icon: IconName;
  readonly label: string;
}

export function IconButton({ icon, label, className = '', ...rest }: ButtonProps) {
  return (
    <button type="button" className={`icon-button ${className}`} aria-label={label} {...rest}>
      <Icon name={icon} />
    </button>
  );
}
