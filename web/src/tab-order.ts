const ORDER = 'tandem.order';
const ACTIVE = 'tandem.active';

/** Remembers the order of the tabs for this browser, and the active one for this window. Terminals are named by id. */
export const tabOrder = {
  save(ids: string[], active: string | undefined): void {
    try {
      localStorage.setItem(ORDER, JSON.stringify(ids));
      if (active === undefined) return;
      sessionStorage.setItem(ACTIVE, active);
      localStorage.setItem(ACTIVE, active); // where the next new window starts
    } catch {
      // Storage may be full; the order then lasts as long as the page.
    }
  },

  /** Returns the terminals in the remembered order, unknown ones last as they came. */
  sort<T extends { id: string }>(terminals: readonly T[]): T[] {
    let order: unknown;
    try {
      order = JSON.parse(localStorage.getItem(ORDER) ?? '[]');
    } catch {
      order = [];
    }
    const place = (terminal: T) => {
      const at = Array.isArray(order) ? order.indexOf(terminal.id) : -1;
      return at < 0 ? Number.MAX_SAFE_INTEGER : at;
    };
    return [...terminals].sort((a, b) => place(a) - place(b));
  },

  active(): string | undefined {
    return sessionStorage.getItem(ACTIVE) ?? localStorage.getItem(ACTIVE) ?? undefined;
  },
};
