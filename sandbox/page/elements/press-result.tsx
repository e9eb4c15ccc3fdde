import type { Press } from './field.ts';

/** A badge when the delivery of the last press failed. */
export function PressResult({ pressed: { failure } }: { pressed: Press }) {
  if (failure === null) return null;
  return (
    <span className="failure-badge" role="img" aria-label={`Failed: ${failure}`} title={failure}>
      !
    </span>
  );
}
