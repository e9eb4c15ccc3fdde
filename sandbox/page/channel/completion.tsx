import type { SlashCommand } from '../../protocol.ts';

interface Props {
  readonly id: string;
  readonly app: string;
  readonly commands: readonly SlashCommand[];
  readonly active: number;
  readonly onPoint: (at: number) => void;
  readonly onChoose: (command: SlashCommand) => void;
}

export function Completion({ id, app, commands, active, onPoint, onChoose }: Props) {
  return (
    <div className="completion">
      <p className="completion-head">Commands</p>
      <div role="listbox" id={id} aria-label="Slash commands" tabIndex={-1}>
        {commands.map((one, at) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the composer has the keys
          <div
            key={one.command}
            role="option"
            tabIndex={-1}
            id={`${id}-${at}`}
            aria-selected={at === active}
            className={at === active ? 'option active' : 'option'}
            ref={(row) => {
              if (at === active) row?.scrollIntoView({ block: 'nearest' });
            }}
            // The focus stays in the composer, where the typing goes.
            onMouseDown={(event) => event.preventDefault()}
            onMouseMove={() => onPoint(at)}
            onClick={() => onChoose(one)}
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
