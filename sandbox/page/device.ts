import { useSyncExternalStore } from 'react';

/** False on a touch screen, which would open its keyboard over half of the page. */
export const hasKeyboard = (): boolean => matchMedia('(hover: hover)').matches;

const PHONE = matchMedia('(max-width: 700px)');

function onPhoneChange(listener: () => void): () => void {
  PHONE.addEventListener('change', listener);
  return () => PHONE.removeEventListener('change', listener);
}

/** Whether the page has the width of a phone. */
export const useIsPhone = (): boolean => useSyncExternalStore(onPhoneChange, () => PHONE.matches);
