import type { Choice } from './options.ts';

interface Props {
  readonly chosen: readonly Choice[];
  readonly onRemove: (choice: Choice) => void;
}

export function SelectTokens({ chosen, onRemove }: Props) {
  return chosen.map((one) => (
    <span key={one.id} className="token">
      {one.text}
      <button type="button" aria-label={`Remove ${one.text}`} onClick={() => onRemove(one)}>
        ✕
      </button>
    </span>
  ));
}

export function ClearButton({ onClear }: { onClear: () => void }) {
  return (
    <button type="button" className="clear" aria-label="Clear selection" onClick={onClear}>
      ✕
    </button>
  );
}
