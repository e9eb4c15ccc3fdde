import { type FormEvent, useState } from 'react';
import type { Api, Panel } from '../../protocol.ts';

const APIS: readonly Api[] = ['cloud', 'alerts'];

interface Props {
  readonly panel: Panel;
  readonly send: (path: string, body: object) => void;
}

/** Lets an alert of the simulator fire or recover: its webhook is delivered to the bot. */
export function AlertForm({ panel, send }: Props) {
  const [id, setId] = useState('');
  const alert = panel.alerts.find((one) => one.id === id) ?? panel.alerts[0];
  const isFiring = alert?.state === 'ALERT';
  return (
    <section>
      <h3>Alerts</h3>
      <form
        className="fault-form"
        onSubmit={(event) => {
          event.preventDefault();
          send('alert', { id: alert?.id ?? '', to: isFiring ? 'resolved' : 'firing' });
        }}
      >
        <SelectField
          label="Alert"
          value={alert?.name ?? ''}
          options={panel.alerts.map(({ name }) => name)}
          set={(name) => setId(panel.alerts.find((one) => one.name === name)?.id ?? '')}
        />
        <button type="submit" className="button">
          {isFiring ? 'Alert recovers' : 'Alert fires'}
        </button>
      </form>
    </section>
  );
}

/** The faults of both simulators. */
export function FaultForm({ panel, send }: Props) {
  const [api, setApi] = useState<Api>('cloud');
  const [operation, setOperation] = useState('');
  const [faultName, setFaultName] = useState('');
  const [times, setTimes] = useState(1);
  const operations = panel.operations[api];
  const selected = operations.includes(operation) ? operation : (operations[0] ?? '');
  const fault = panel.faults.find(({ name }) => name === faultName) ?? panel.faults[0];

  function onInject(event: FormEvent) {
    event.preventDefault();
    if (fault) send('faults', { api, operation: selected, fault: fault.name, times });
  }

  return (
    <section>
      <h3>Faults</h3>
      <form className="fault-form" onSubmit={onInject}>
        <SelectField
          label="API"
          value={api}
          options={APIS}
          set={(value) => setApi(value === 'alerts' ? 'alerts' : 'cloud')}
        />
        <SelectField label="Operation" value={selected} options={operations} set={setOperation} />
        <SelectField
          label="Fault"
          value={fault?.name ?? ''}
          options={panel.faults.map(({ name }) => name)}
          set={setFaultName}
        />
        <label>
          Number of requests
          <input
            type="number"
            min={1}
            max={99}
            value={times}
            onChange={({ target }) => setTimes(Math.max(1, target.valueAsNumber || 1))}
          />
        </label>
        <p className="fault-summary">{fault?.summary}</p>
        <button type="submit" className="button primary">
          Inject fault
        </button>
      </form>
      <ActiveFaults faults={panel.activeFaults} clear={() => send('clear', {})} />
    </section>
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly set: (value: string) => void;
}

function SelectField({ label, value, options, set }: SelectProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={({ target }) => set(target.value)}>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </label>
  );
}

function ActiveFaults({ faults, clear }: { faults: Panel['activeFaults']; clear: () => void }) {
  if (faults.length === 0) return <p className="quiet">No active faults.</p>;
  return (
    <div className="active-faults">
      <ul aria-label="Active faults">
        {faults.map(({ api, operation, fault, times }) => (
          <li key={`${api} ${operation} ${fault}`}>
            <b>{fault}</b> for the next {times === 1 ? 'request' : `${times} requests`} to {api}:{' '}
            {operation}
          </li>
        ))}
      </ul>
      <button type="button" className="button" onClick={clear}>
        Clear all faults
      </button>
    </div>
  );
}
