import type { Store } from '../ahp/store.ts';
import type { URI } from '../ahp/types.ts';
import { byId } from '../dom.ts';
import { notify } from '../notices.ts';
import type { Tab } from '../tab.ts';
import type { TabStrip } from '../tabstrip.ts';
import { ConsentCards } from './consent.ts';
import type { MenuPlace } from './menu.ts';
import { PauseSwitch } from './pause.ts';
import { TabMenu, type TabMenuSubject } from './tab-menu.ts';
import { tabSharing, type TabSharing } from './tab-sharing.ts';

/** The tabs that the controls are for, and what they ask of them. */
export interface TabHost {
  tabs(): readonly Tab[];
  active(): Tab | undefined;
  /** Shows a tab and moves the keyboard to its terminal. */
  select(tab: Tab): void;
  /** Shows the list of the tab's commands. */
  commands(tab: Tab): void;
  rename(tab: Tab): void;
  close(tab: Tab): void;
  /** Tells the person what went wrong. */
  report(err: unknown): void;
}

/** What the page shows about programs, and what a person does about them: badges, tab menus, consent cards, the pause switch. */
export class SharingControls {
  private readonly menu = new TabMenu();
  /** The tab whose menu was opened last. */
  private menuTab: Tab | undefined;
  private readonly cards: ConsentCards;
  private readonly pause: PauseSwitch;

  constructor(
    private readonly store: Store,
    private readonly strip: TabStrip,
    private readonly host: TabHost,
  ) {
    this.cards = new ConsentCards(byId('consents'), {
      answer: (id, answer) => this.try(store.answer(id, answer)),
      select: (resource) => {
        const tab = this.tabOf(resource);
        if (tab) host.select(tab);
      },
      leave: () => host.active()?.focus(),
    });
    this.pause = new PauseSwitch((paused) => void this.try(store.setPaused(paused)));
    const refresh = () => this.refresh();
    store.listen({ added: refresh, removed: refresh, changed: refresh, requests: refresh, paused: refresh, connected: refresh });
  }

  /** Shows what the store and the tabs say now. */
  refresh(): void {
    for (const tab of this.host.tabs()) {
      const sharing = this.sharingOf(tab);
      this.strip.share(tab, sharing);
      tab.heldBy(sharing?.holder, this.store.paused, () => this.takeBack(tab));
    }
    this.cards.show(this.store.requests, (resource) => this.titleOf(resource));
    this.pause.show(this.store.connected ? this.store.paused : undefined);
    if (!this.menu.isOpen || !this.menuTab) return;
    if (this.host.tabs().includes(this.menuTab)) this.menu.update(this.subject(this.menuTab));
    else this.menu.close();
  }

  /** Opens a tab's menu. */
  openMenu(tab: Tab, place: MenuPlace): void {
    this.menuTab = tab;
    this.menu.open(place, this.subject(tab), {
      takeBack: () => this.takeBack(tab),
      setMode: (mode) => {
        if (tab.resource !== undefined) void this.try(this.store.setMode(tab.resource, mode));
      },
      commands: () => this.host.commands(tab),
      rename: () => this.host.rename(tab),
      close: () => this.host.close(tab),
    });
  }

  /** Takes a terminal from the program or session that drives it, if one does. */
  takeBack(tab: Tab): void {
    if (tab.resource !== undefined && this.sharingOf(tab)?.holder) void this.try(this.store.claim(tab.resource));
  }

  /** Moves the keyboard to what programs ask. */
  focusRequests(): void {
    if (!this.cards.focus()) notify('No program asks for anything.');
  }

  /** Pauses all programs, or lets them go on. */
  togglePause(): void {
    this.pause.toggle();
  }

  private subject(tab: Tab): TabMenuSubject {
    const { connected, paused } = this.store;
    return { title: tab.title, gone: tab.gone, sharing: connected ? this.sharingOf(tab) : undefined, paused };
  }

  private sharingOf({ resource }: Tab): TabSharing | undefined {
    const terminal = resource === undefined ? undefined : this.store.terminals.get(resource);
    if (!terminal) return undefined;
    const sharing = tabSharing(terminal, this.store.clientId);
    return terminal.exit ? { ...sharing, holder: undefined } : sharing; // nothing is left to drive
  }

  private tabOf(resource: URI): Tab | undefined {
    return this.host.tabs().find((tab) => tab.resource === resource);
  }

  private titleOf(resource: URI): string {
    return this.tabOf(resource)?.title ?? (this.store.terminals.get(resource)?.title || 'Shell');
  }

  private async try(done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (err) {
      this.host.report(err);
    }
  }
}
