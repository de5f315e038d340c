package sharing

// SetPaused stops all programs, or lets them go on; only the person may. While they are paused they are refused
// everything with PausedReason, and their viewers are told nothing new.
func (m *Manager) SetPaused(by By, paused bool) error {
	if !by.Client.isPerson() {
		return errPersonOnly
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.paused == paused {
		return nil
	}
	m.paused = paused
	for _, t := range m.terminals {
		for v := range t.viewers {
			v.inner.SetPaused(paused)
		}
	}
	m.cfg.Logger.Info("programs paused, or let go on", "paused", paused)
	m.observer.PausedChanged(paused)
	m.changed()
	return nil
}

// Paused reports whether programs are paused.
func (m *Manager) Paused() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.paused
}
