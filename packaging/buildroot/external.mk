include $(sort $(wildcard $(BR2_EXTERNAL_CLOTHO_PATH)/*/*.mk))
