import type { useCompletion } from './completion.ts';

interface Props {
  readonly app: string;
  readonly completion: ReturnType<typeof useCompletion>;
}

export function CompletionList({ app, completion }: Props) {
  const { listId, offered, active, point, complete } = completion;
  return (
    <div className="completion">
      <p className="completion-head">Commands</p>
      <div role="listbox" id={listId} aria-label="Slash commands" tabIndex={-1}>
        {offered.map((one, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the composer handles the keys
          <div
            key={one.command}
            role="option"
            tabIndex={-1}
            id={`${listId}-${at}`}
            aria-selected={at === active}
            className={at === active ? 'option active' : 'option'}
            ref={(row) => {
              if (at === active) row?.scrollIntoView({ block: 'nearest' });
            }}
            // The focus stays in the composer.
            onMouseDown={(event) => event.preventDefault()}
            onMouseMove={() => point(at)}
            onClick={() => complete(one)}
          >
            <span className="completion-line">
              <b>{one.command}</b>
              <span className="usage">{one.usageHint}</span>
              <span className="completion-app">{app}</span>
            </span>
            <small>{one.description}</small>
          </div>
        ))}
      </div>
    </div>
  );
}
