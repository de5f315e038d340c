import { isClaim, isInteger, readFields, readSharingState, readTerminals } from './parse.ts';
import type { AnyAction, Part, RootState, SharingState, TerminalState } from './types.ts';

// Each reducer returns the state after an action and leaves the one before as it was. An action that it does not know,
// or that lacks a field, changes nothing: the same state comes back.

/** Reduces an action of the root channel. */
export function reduceRoot(state: RootState, action: AnyAction): RootState {
  switch (action.type) {
    case 'root/agentsChanged':
      return Array.isArray(action['agents']) ? { ...state, agents: action['agents'] } : state;
    case 'root/activeSessionsChanged': {
      const activeSessions = action['activeSessions'];
      return isInteger(activeSessions) ? { ...state, activeSessions } : state;
    }
    case 'root/terminalsChanged': {
      const terminals = readTerminals(action['terminals']);
      return terminals ? { ...state, terminals } : state;
    }
    case 'root/configChanged': {
      const config = readFields(action['config']);
      if (!config || !state.config) return state;
      const values = action['replace'] === true ? { ...config } : { ...state.config.values, ...config };
      return { ...state, config: { ...state.config, values } };
    }
    default:
      return state;
  }
}

/** Reduces an action of the sharing channel. What clients ask for changes nothing before the host says so. */
export function reduceSharing(state: SharingState, action: AnyAction): SharingState {
  return action.type === 'sharing/changed' ? (readSharingState(action['state']) ?? state) : state;
}

/**
 * Reduces an action of a terminal's channel. A state with a `lifecycle` keeps it (from version 0.9), one without gets an
 * `exitCode`.
 */
export function reduceTerminal(state: TerminalState, action: AnyAction): TerminalState {
  const { data, cols, rows, claim, title, cwd } = action;
  switch (action.type) {
    case 'terminal/data':
      return typeof data === 'string' ? { ...state, content: append(state.content, data) } : state;
    case 'terminal/resized':
      return isInteger(cols) && isInteger(rows) ? { ...state, cols, rows } : state;
    case 'terminal/claimed':
      return isClaim(claim) ? { ...state, claim } : state;
    case 'terminal/titleChanged':
      return typeof title === 'string' ? { ...state, title } : state;
    case 'terminal/cwdChanged':
      return typeof cwd === 'string' ? { ...state, cwd } : state;
    case 'terminal/exited': {
      const code = isInteger(action['exitCode']) ? { exitCode: action['exitCode'] } : {};
      return state.lifecycle ? { ...state, lifecycle: { status: 'exited', ...code } } : { ...state, ...code };
    }
    case 'terminal/cleared':
      return { ...state, content: [] };
    case 'terminal/commandDetectionAvailable':
      return { ...state, supportsCommandDetection: true };
    case 'terminal/commandExecuted':
      return execute(state, action);
    case 'terminal/commandFinished':
      return { ...state, content: state.content.map((part) => finish(part, action)) };
    default:
      return state; // terminal/input too: what it does comes back as data
  }
}

function append(content: Part[], data: string): Part[] {
  const last = content.at(-1);
  const before = content.slice(0, -1);
  if (last?.type === 'command' && !last.isComplete) return [...before, { ...last, output: last.output + data }];
  if (last?.type === 'unclassified') return [...before, { ...last, value: last.value + data }];
  return [...content, { type: 'unclassified', value: data }];
}

function execute(state: TerminalState, action: AnyAction): TerminalState {
  const { commandId, commandLine, timestamp } = action;
  if (typeof commandId !== 'string' || typeof commandLine !== 'string' || !isInteger(timestamp)) return state;
  const part: Part = { type: 'command', commandId, commandLine, output: '', timestamp, isComplete: false };
  return { ...state, supportsCommandDetection: true, content: [...state.content, part] };
}

function finish(part: Part, action: AnyAction): Part {
  if (part.type !== 'command' || part.commandId !== action['commandId']) return part;
  const { exitCode: _code, durationMs: _duration, ...rest } = part;
  const finished: Part = { ...rest, isComplete: true };
  if (isInteger(action['exitCode'])) finished.exitCode = action['exitCode'];
  if (isInteger(action['durationMs'])) finished.durationMs = action['durationMs'];
  return finished;
}
