package jetstream

// SetBetween has a test called between two steps.
func (k *KV) SetBetween(f func(step string)) { k.st.between = f }
