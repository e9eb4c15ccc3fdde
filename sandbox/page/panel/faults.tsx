import { type FormEvent, useState } from 'react';
import type { Panel, SetFault } from '../../protocol.ts';
import type { Ask } from './panel.tsx';

export type Api = SetFault['api'];

export const APIS: readonly { api: Api; name: string }[] = [
  { api: 'cloud', name: 'Cloud API' },
  { api: 'alerts', name: 'Alerts API' },
];

export function Faults({ panel, ask }: { panel: Panel; ask: Ask }) {
  const [api, setApi] = useState<Api>('cloud');
  const [operation, setOperation] = useState('');
  const [fault, setFault] = useState('');
  const [times, setTimes] = useState(1);
  const operations = panel.operations[api];
  const chosen = operations.includes(operation) ? operation : (operations[0] ?? '');
  const meant = panel.faults.find(({ name }) => name === fault) ?? panel.faults[0];

  function onArm(event: FormEvent) {
    event.preventDefault();
    if (meant !== undefined) ask('faults', { api, operation: chosen, fault: meant.name, times });
  }

  return (
    <section>
      <h3>Faults</h3>
      <form className="fault-form" onSubmit={onArm}>
        <label>
          API
          <select
            value={api}
            onChange={({ target }) => setApi(target.value === 'alerts' ? 'alerts' : 'cloud')}
          >
            {APIS.map((one) => (
              <option key={one.api} value={one.api}>
                {one.name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Operation
          <select value={chosen} onChange={({ target }) => setOperation(target.value)}>
            {operations.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Fault
          <select value={meant?.name ?? ''} onChange={({ target }) => setFault(target.value)}>
            {panel.faults.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <label>
          Times
          <input
            type="number"
            min={1}
            max={99}
            value={times}
            onChange={({ target }) => setTimes(Math.max(1, target.valueAsNumber || 1))}
          />
        </label>
        <p className="fault-summary">{meant?.summary}</p>
        <button type="submit" className="button primary">
          Arm
        </button>
      </form>
      <Armed armed={panel.activeFaults} ask={ask} />
    </section>
  );
}

function Armed({ armed, ask }: { armed: Panel['activeFaults']; ask: Ask }) {
  if (armed.length === 0) return <p className="quiet">No fault is armed.</p>;
  return (
    <div className="armed">
      <ul aria-label="Armed faults">
        {armed.map(({ api, operation, fault, times }) => (
          <li key={`${api} ${operation} ${fault}`}>
            <b>{fault}</b> on {api}: {operation}, {times === 1 ? 'once' : `${times} times`}
          </li>
        ))}
      </ul>
      <button type="button" className="button" onClick={() => ask('clear', {})}>
        Clear all faults
      </button>
    </div>
  );
}
